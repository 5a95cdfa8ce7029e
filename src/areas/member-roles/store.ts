import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { roleColumns, type MemberRoleRow } from './entities.ts'
import { nameIsTaken, type Others, type RoleState } from './rules.ts'

/** Roles of the instance; or of the group that is the subject. */
export function list(of: 'instance' | 'group', input: PageInput): Read<MemberRoleRow> {
  const kept = of === 'instance' ? sql`r.namespace_id is null` : sql`r.namespace_id = subject.id`
  return page(
    { columns: roleColumns('r'), from: sql`from member_roles r where ${kept}`, order: sql`r.id` },
    input,
  )
}

const keptIn = (groupId: number | null): RawBuilder<boolean> =>
  sql`r.namespace_id is not distinct from ${groupId}::bigint`

/** Nobody else adds a role to the group until the transaction ends. */
export async function lockGroup(tx: Tx, groupId: number): Promise<void> {
  await sql`select from namespaces n where n.id = ${groupId} for no key update`.execute(tx)
}

/** The roles of a place besides the one that changes: how many there are, and whether one has the name. */
export async function others(
  tx: Tx,
  groupId: number | null,
  name: string,
  changing: number | null = null,
): Promise<Others> {
  const { rows } = await sql<Others>`
    select count(*)::int as number, coalesce(bool_or(r.name = ${name}), false) as named
    from member_roles r where ${keptIn(groupId)} and r.id is distinct from ${changing}::bigint`.execute(tx)
  return rows[0]!
}

export async function insert(tx: Tx, groupId: number | null, state: RoleState): Promise<MemberRoleRow> {
  const { rows } = await sql<MemberRoleRow>`
    insert into member_roles as r (namespace_id, name, description, base_access_level, permissions)
    values (${groupId}, ${state.name}, ${state.description}, ${state.baseAccessLevel}, ${state.permissions}::text[])
    returning ${roleColumns('r')}`
    .execute(tx)
    .catch(onConstraint('member_roles_name', nameIsTaken))
  return rows[0]!
}

/** A role of the place; nobody else changes it, or gives it to a member, until the transaction ends. */
export async function lock(tx: Tx, groupId: number | null, id: number): Promise<MemberRoleRow | undefined> {
  const { rows } = await sql<MemberRoleRow>`
    select ${roleColumns('r')} from member_roles r where r.id = ${id} and ${keptIn(groupId)} for update`.execute(
    tx,
  )
  return rows[0]
}

export async function change(tx: Tx, id: number, state: RoleState): Promise<MemberRoleRow> {
  const { rows } = await sql<MemberRoleRow>`
    update member_roles r set name = ${state.name}, description = ${state.description},
      permissions = ${state.permissions}::text[], updated_at = now()
    where r.id = ${id} returning ${roleColumns('r')}`
    .execute(tx)
    .catch(onConstraint('member_roles_name', nameIsTaken))
  return rows[0]!
}

export async function isHeld(tx: Tx, id: number): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select exists (select from members m where m.member_role_id = ${id}) as held`.execute(tx)
  return rows[0]!.held
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('member_roles as r').where('r.id', '=', id).execute()
}

/** Any role, for giving it to somebody. */
export async function find(db: Reader, id: number): Promise<MemberRoleRow | undefined> {
  const { rows } = await sql<MemberRoleRow>`
    select ${roleColumns('r')} from member_roles r where r.id = ${id}`.execute(db)
  return rows[0]
}
