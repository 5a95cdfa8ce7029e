import { tokenPrefix } from '../formats.ts'
import { flag, intOrNull, textOrNull } from '../kinds.ts'

/** Access tokens. */
export const tokenSettings = {
  user_oauth_applications: flag(
    true,
    'When false, ordinary users can no longer register their own OAuth applications.',
  ),
  disable_admin_oauth_scopes: flag(
    false,
    'When true, an administrator cannot authorise an untrusted OAuth application asking for api, read_api, repository, registry or sudo scopes.',
    { strict: true },
  ),
  disable_personal_access_tokens: flag(
    false,
    "All personal access tokens stop working and none can be created; no API call can undo it because the caller's own token is dead.",
    { strict: true, plan: 'premium' },
  ),
  require_personal_access_token_expiry: flag(
    true,
    'Whether new tokens must end within 365 days. A token made without `expires_at` ends in 365 days; with false it has no end.',
    { strict: true },
  ),
  personal_access_token_prefix: textOrNull(
    'glpat-',
    'What newly made personal, project and group tokens begin with. New tokens begin with it; tokens there are keep working.',
    { longest: 20, format: tokenPrefix },
  ),
  disable_feed_token: flag(
    false,
    'Feed tokens are neither shown nor accepted for RSS/Atom/calendar requests.',
    { strict: true },
  ),
  max_personal_access_token_lifetime: intOrNull(
    null,
    'Longest allowed token lifetime, in days; older tokens beyond it are revoked after a grace time.',
    { min: 1, max: 365, plan: 'ultimate' },
  ),
  service_access_tokens_expiration_enforced: flag(
    true,
    'Whether service account tokens must have an expiry.',
    { strict: true, plan: 'premium' },
  ),
  inactive_resource_access_tokens_delete_after_days: intOrNull(
    30,
    "Days after which expired project and group tokens' bot users are deleted.",
    { min: 1 },
  ),
}
