import { group, instance } from '../../access/index.ts'
import type { AbilityOf, SubjectKind, SubjectOf } from '../../kernel/endpoint/index.ts'
import type { RolePlace } from './rules.ts'

/** Where roles are kept, as endpoints see it. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: 'instance' | 'group'
  readonly on: Kind
  readonly may: AbilityOf<Kind>
  readonly path: string
  readonly called: string
  readonly placeOf: (call: { readonly [Name in Kind['name']]: SubjectOf<Kind> }) => RolePlace
}

export const instancePlace: Place<typeof instance> = {
  kind: 'instance',
  on: instance,
  may: 'admin_instance',
  path: '/member_roles',
  called: 'the instance',
  placeOf: () => ({ groupId: null, below: false }),
}

export const groupPlace: Place<typeof group> = {
  kind: 'group',
  on: group,
  may: 'admin_member_role',
  path: '/groups/:id/member_roles',
  called: 'a group',
  placeOf: ({ group: { id, parentId } }) => ({ groupId: id, below: parentId !== null }),
}
