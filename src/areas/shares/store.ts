import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { notFound, type ApiError } from '../../kernel/errors/index.ts'
import type { SharedWithRow, ShareRow } from './entities.ts'

/** What is shared: a group with another one, or a project. */
export interface Shared {
  readonly kind: 'group' | 'project'
  readonly id: number
  /** Namespaces from the top one down to it, a group itself included. */
  readonly line: readonly number[]
}

export interface NewShare {
  readonly groupId: number
  readonly accessLevel: number
  /** `YYYY-MM-DD` */
  readonly expiresAt: string | null
  readonly memberRoleId: number | null
}

const unexpired = (alias: string): RawBuilder<unknown> => {
  const column = sql.ref(`${alias}.expires_at`)
  return sql`(${column} is null or ${column} > (now() at time zone 'utc')::date)`
}

const tables = {
  group: { name: 'group_shares', to: 'shared_id' },
  project: { name: 'project_shares', to: 'project_id' },
} as const

/** Throws `taken` for a group that was let in before; an expired share makes room. */
export async function insert(
  tx: Tx,
  shared: Shared,
  { groupId, accessLevel, expiresAt, memberRoleId }: NewShare,
  taken: () => ApiError,
): Promise<ShareRow> {
  const { name, to } = tables[shared.kind]
  await sql`
    delete from ${sql.table(name)} s
    where s.${sql.ref(to)} = ${shared.id} and s.group_id = ${groupId} and not ${unexpired('s')}`.execute(tx)
  const { rows } = await sql<ShareRow>`
    insert into ${sql.table(name)} (${sql.ref(to)}, group_id, access_level, expires_at, member_role_id)
    values (${shared.id}, ${groupId}, ${accessLevel}, ${expiresAt}::date, ${memberRoleId})
    returning id, group_id, access_level as group_access, expires_at, member_role_id`
    .execute(tx)
    .catch(onConstraint(`${name}_once`, taken))
    // Deleted in this very moment.
    .catch(onConstraint(`${name}_group_id_fkey`, () => notFound()))
    .catch(onConstraint(`${name}_member_role_id_fkey`, () => notFound('Member Role')))
  return rows[0]!
}

/** Tells when the share was last changed; undefined where there is none. */
export async function remove(tx: Tx, { kind, id }: Shared, groupId: number): Promise<Date | undefined> {
  const { name, to } = tables[kind]
  const { rows } = await sql<{ updated_at: Date }>`
    delete from ${sql.table(name)} s where s.${sql.ref(to)} = ${id} and s.group_id = ${groupId}
    returning s.updated_at`.execute(tx)
  return rows[0]?.updated_at
}

export async function find(db: Reader, { kind, id }: Shared, groupId: number): Promise<ShareRow | undefined> {
  const { name, to } = tables[kind]
  const { rows } = await sql<ShareRow>`
    select s.id, s.group_id, s.access_level as group_access, s.expires_at, s.member_role_id from ${sql.table(name)} s
    where s.${sql.ref(to)} = ${id} and s.group_id = ${groupId} and ${unexpired('s')}`.execute(db)
  return rows[0]
}

/** What the groups above say about sharing: whether one keeps its projects to itself, and the top one its groups. */
export async function locks(
  db: Reader,
  { line }: Shared,
): Promise<{ readonly projects: boolean; readonly outside: boolean }> {
  const { rows } = await sql<{ projects: boolean; outside: boolean }>`
    select
      coalesce(bool_or(n.settings -> 'share_with_group_lock' = 'true'), false) as projects,
      coalesce(bool_or(n.settings -> 'prevent_sharing_groups_outside_hierarchy' = 'true' and n.parent_id is null), false)
        as outside
    from namespaces n where n.id = any (${line}::bigint[]) and n.kind = 'group'`.execute(db)
  return rows[0]!
}

/** Deletes shares whose day has come. */
export async function removeExpired(db: Writer): Promise<void> {
  for (const { name } of Object.values(tables)) {
    await sql`delete from ${sql.table(name)} s where not ${unexpired('s')}`.execute(db)
  }
}

/**
 * The groups that `id`, a group or project, is shared with, as one JSON value of `SharedWithRow`s: all for those who
 * are members there, `role` being their level, else those that the caller may see.
 */
export function sharedWith(
  kind: Shared['kind'],
  id: RawBuilder<unknown>,
  role: RawBuilder<unknown>,
): RawBuilder<readonly SharedWithRow[]> {
  const { name, to } = tables[kind]
  return sql`(
    select coalesce(json_agg(json_build_object('group_id', i.id, 'group_name', i.name, 'group_full_path', i.full_path,
      'group_access_level', s.access_level, 'expires_at', s.expires_at, 'member_role_id', s.member_role_id) order by s.id), '[]'::json)
    from ${sql.table(name)} s join namespaces i on i.id = s.group_id
    where s.${sql.ref(to)} = ${id} and ${unexpired('s')}
      and (${role} > 0 or sees_group(i.id, actor.id, actor.admin, actor.external)))`
}
