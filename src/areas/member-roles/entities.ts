import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { flaggedPermission, permissions, type Permission } from '../../access/index.ts'
import { Fields, Flag, Id, Int, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'

type Flags<Value> = Readonly<Record<(typeof permissions)[number], Value>>

/** One value for each permission. */
export function eachPermission<Value>(value: (permission: Permission) => Value): Flags<Value> {
  return Object.fromEntries(permissions.map((permission) => [permission, value(permission)])) as Flags<Value>
}

export const MemberRole = Fields({
  id: Id(),
  name: Text(),
  description: Nullable(Text()),
  group_id: Nullable(Id({ description: 'Null: a role of the instance' })),
  base_access_level: Int(),
  ...eachPermission(() => Flag()),
  [flaggedPermission]: Optional(Flag({ description: 'Only in roles that have it' })),
})

export interface MemberRoleRow {
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly group_id: number | null
  readonly base_access_level: number
  readonly permissions: readonly Permission[]
}

export function memberRole({ permissions: given, ...row }: MemberRoleRow) {
  return {
    ...row,
    ...eachPermission((permission) => given.includes(permission)),
    ...(given.includes(flaggedPermission) && { [flaggedPermission]: true }),
  }
}

/** Columns of a `MemberRoleRow`, of a role under this alias. */
export function roleColumns(alias: string): RawBuilder<unknown> {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${alias}.${name}`)
  return sql`
    ${column('id')}, ${column('name')}, ${column('description')}, ${column('namespace_id')} as group_id,
    ${column('base_access_level')}, ${column('permissions')}`
}

/** One JSON value: the role with this id as a `MemberRoleRow`, or null. */
export function roleJson(id: RawBuilder<unknown>): RawBuilder<MemberRoleRow | null> {
  return sql`(select to_json(shown) from (
    select ${roleColumns('held')} from member_roles held where held.id = ${id}) shown)`
}
