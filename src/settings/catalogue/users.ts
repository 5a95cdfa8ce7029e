import { Flag, Int, Nullable, Text } from '../../kernel/endpoint/types.ts'
import { setting } from '../setting.ts'

/** Accounts: what new ones begin with, and when an idle one may be put to rest. */
export const userSettings = {
  user_default_external: setting(Flag(), false, {
    about: 'Whether users created from now on are external, unless the request says otherwise.',
    effect: 'An external user sees internal projects only as a member, and creates no groups or projects.',
  }),
  user_default_internal_regex: setting(Nullable(Text()), null, {
    about:
      'While new users default to external: e-mail addresses that make a new user internal, in any letter case.',
    effect: 'A user created with a matching address is not external.',
  }),
  user_defaults_to_private_profile: setting(Flag(), false, {
    about: 'Whether the profile of users created from now on is private.',
    effect: 'Others do not see when such a user joined.',
  }),
  deactivate_dormant_users_period: setting(Int({ minimum: 90 }), 90, {
    about: 'Days without activity after which a user counts as dormant.',
    effect: 'A user who was active since then cannot be deactivated.',
  }),
  minimum_password_length: setting(Int({ minimum: 8, maximum: 128 }), 8, {
    about: 'Shortest password that is accepted, in characters.',
    effect: 'A shorter new password is refused; passwords there are keep working.',
  }),
}
