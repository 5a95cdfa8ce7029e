import { compilePattern } from '../../ci/text/regex.ts'
import { matchesWildcard } from '../../kernel/lib/wildcard.ts'
import type { SettingValues } from '../../settings/index.ts'

type AddressRules = Pick<
  SettingValues,
  | 'domain_allowlist'
  | 'domain_denylist'
  | 'domain_denylist_enabled'
  | 'email_restrictions'
  | 'email_restrictions_enabled'
>

export const notAdmitted =
  'is not allowed for sign-up. Please use your regular email address. Check with your administrator.'

/** Whether people with this address may sign up. A list of those who may is the last word. */
export function isAdmitted(email: string, rules: AddressRules): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  const isOn = (list: readonly string[]) => list.some((entry) => matchesWildcard(entry.toLowerCase(), domain))
  if (rules.domain_allowlist.length > 0) return isOn(rules.domain_allowlist)
  if (rules.domain_denylist_enabled && isOn(rules.domain_denylist)) return false
  const restriction = rules.email_restrictions_enabled ? rules.email_restrictions : null
  return restriction === null || restriction === '' || compilePattern(restriction)?.test(email) !== true
}
