import { isAdministrator, type Actor } from '../../access/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'

/** Refuses everybody but administrators where only the directory may change memberships (`lock_memberships_to_ldap`). */
export function refuseLocked({ values }: Settings, actor: Actor): void {
  if (values.lock_memberships_to_ldap && !isAdministrator(actor)) throw forbidden()
}
