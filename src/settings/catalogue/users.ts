import { javascriptPattern, locale } from '../formats.ts'
import { choice, flag, int, text, textOrNull } from '../kinds.ts'

/** Accounts: what new ones begin with, and when an idle one may be put to rest. */
export const userSettings = {
  allow_account_deletion: flag(true, 'When false, users cannot delete their own account.', {
    plan: 'premium',
  }),
  updating_name_disabled_for_users: flag(
    false,
    "When true, only administrators may change a user's display name.",
    { strict: true },
  ),
  user_default_external: flag(
    false,
    'Whether users created from now on are external, unless the request says otherwise. An external user sees internal projects only as a member, and creates no groups or projects.',
  ),
  user_default_internal_regex: textOrNull(
    null,
    'While new users default to external: e-mail addresses that make a new user internal, in any letter case. A user created with a matching address is not external.',
    { format: javascriptPattern },
  ),
  user_defaults_to_private_profile: flag(
    false,
    'Whether the profile of users created from now on is private. Others do not see when such a user joined.',
  ),
  deactivate_dormant_users: flag(false, 'A daily job sets long-inactive users to state deactivated.'),
  deactivate_dormant_users_period: int(
    90,
    'Days without activity after which a user counts as dormant. A user who was active since then cannot be deactivated.',
    { min: 1 },
  ),
  avatar_service_enabled: flag(
    true,
    'Users without an uploaded picture get an avatar_url at the hashed-e-mail avatar service; when false it is null.',
    { strict: true, vendor: 'gravatar_enabled' },
  ),
  user_show_add_ssh_key_message: flag(true, 'Shows or hides the hint for users without an SSH key.', {
    recorded: true,
  }),
  default_syntax_highlighting_theme: choice(
    [1, 2, 3, 4, 5, 6],
    1,
    'Code colour theme of new and anonymous users.',
    { unlisted: 'must be a valid syntax highlighting theme ID', recorded: true },
  ),
  default_preferred_language: text('en', 'Language for visitors and the preferred_language of new users.', {
    format: locale,
  }),
  whats_new_variant: choice(
    ['all_tiers', 'current_tier', 'disabled'],
    'all_tiers',
    "Which release notes the what's-new drawer shows.",
    { recorded: true },
  ),
  first_day_of_week: choice(
    [0, 1, 6],
    0,
    'Start day of calendars for users without an own preference (0 Sunday, 1 Monday, 6 Saturday).',
    { unlisted: 'is not included in the list', recorded: true },
  ),
}
