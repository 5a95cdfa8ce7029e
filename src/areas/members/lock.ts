import { isAdministrator, type Actor, type GroupSubject, type ProjectSubject } from '../../access/index.ts'
import { forbidden, refused } from '../../kernel/errors/index.ts'
import type { Settings } from '../../settings/index.ts'

/** Refuses everybody but administrators where only the directory may change memberships (`lock_memberships_to_ldap`). */
export function refuseLocked({ values }: Settings, actor: Actor): void {
  if (values.lock_memberships_to_ldap && !isAdministrator(actor)) throw forbidden()
}

/** There, refuses newcomers: to groups as above, to their projects from everybody, as `membership_lock` of the group does. */
export function refuseNewcomers(
  settings: Settings,
  actor: Actor,
  subject: GroupSubject | ProjectSubject,
): void {
  if (subject.kind === 'group') refuseLocked(settings, actor)
  else if (settings.values.lock_memberships_to_ldap && subject.namespaceKind === 'group') {
    throw refused(405, '405 Method Not Allowed')
  }
}
