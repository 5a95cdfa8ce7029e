import { Flag, Nullable, Text } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

/** Access tokens. */
export const tokenSettings = {
  personal_access_token_prefix: setting(Nullable(Text({ maxLength: 20 })), 'glpat-', {
    about: 'What newly made personal, project and group tokens begin with.',
    effect: 'New tokens begin with it; tokens there are keep working.',
  }),
  require_personal_access_token_expiry: setting(Flag(), true, {
    about: 'Whether new tokens must end within 365 days.',
    effect: 'A token made without `expires_at` ends in 365 days; with false it has no end.',
  }),
}
