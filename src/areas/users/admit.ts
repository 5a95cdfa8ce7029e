import type { Reader } from '../../kernel/db/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import * as rules from './rules.ts'
import { taken } from './store.ts'

/** Refuses what breaks a rule, or has a name or address that somebody else has. `except`: the user that changes. */
export async function admit(
  db: Reader,
  state: rules.UserState,
  values: SettingValues,
  more: { readonly password?: string | undefined; readonly except?: Parameters<typeof taken>[2] } = {},
): Promise<void> {
  const found = await taken(db, state, more.except ?? null)
  if (found.email) throw rules.emailTaken()
  if (found.username) throw rules.usernameTaken()
  rules.check(state, more.password, rules.passwordRules(values))
}

/** What a new user with this address is where nobody says otherwise. */
export function usualUser(
  email: string,
  values: SettingValues,
): {
  readonly external: boolean
  readonly privateProfile: boolean
  readonly canCreateGroup: boolean
  readonly projectsLimit: number
  readonly profile: { readonly preferred_language: string }
} {
  return {
    external: rules.startsExternal(email, {
      byDefault: values.user_default_external,
      internalPattern: values.user_default_internal_regex,
    }),
    privateProfile: values.user_defaults_to_private_profile,
    canCreateGroup: values.can_create_group,
    projectsLimit: values.default_projects_limit ?? 0,
    profile: { preferred_language: values.default_preferred_language },
  }
}
