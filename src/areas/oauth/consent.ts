import type { User } from '../../access/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import type { Application } from './applications.ts'
import { areWide } from './scopes.ts'

/** Administrators may be kept from letting an application do what they can. */
export function mayGrant(
  { admin }: Pick<User, 'admin'>,
  { application, scopes }: { application: Application | undefined; scopes: readonly string[] },
  { disable_admin_oauth_scopes: kept }: Pick<SettingValues, 'disable_admin_oauth_scopes'>,
): boolean {
  return !(kept && admin && application?.trusted !== true && areWide(scopes))
}
