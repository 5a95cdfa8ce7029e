import { Role } from '../../../access/index.ts'
import { sql, type Reader, type Tx, type Writer } from '../../../kernel/db/index.ts'
import type { Change, CurrentMember, Identity } from './plan.ts'

export interface LinkRow {
  readonly id: number
  readonly namespace_id: number
  readonly provider: string
  readonly cn: string | null
  readonly filter: string | null
  readonly group_access: number
  readonly member_role_id: number | null
}

/** Links of these groups, or of all, to these directories. */
export async function linksTo(
  db: Reader,
  providers: readonly string[],
  groupIds: readonly number[] | undefined,
): Promise<LinkRow[]> {
  const chosen = groupIds === undefined ? sql`` : sql`and l.namespace_id = any (${[...groupIds]}::bigint[])`
  const { rows } = await sql<LinkRow>`
    select l.id, l.namespace_id, l.provider, l.cn, l.filter, l.group_access, l.member_role_id
    from ldap_group_links l where l.provider = any (${[...providers]}::text[]) ${chosen} order by l.id`.execute(
    db,
  )
  return rows
}

/** Marks groups as being synced, parents first; one whose sync goes on is left out, unless it has hung for an hour. */
export async function claim(db: Writer, groupIds: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with claimed as (
      insert into ldap_syncs as s (namespace_id, state, started_at)
      select unnest(${[...groupIds]}::bigint[]), 'started', now()
      on conflict (namespace_id) do update set state = 'started', started_at = now()
      where s.state <> 'started' or s.started_at < now() - interval '1 hour'
      returning s.namespace_id)
    select n.id from claimed c join namespaces n on n.id = c.namespace_id
    order by cardinality(n.traversal_ids), n.id`.execute(db)
  return rows.map(({ id }) => id)
}

export interface Outcome {
  readonly groupId: number
  readonly state: 'ready' | 'pending' | 'failed'
  readonly error: string | null
}

/** Says how it went with all of them, in one statement. */
export async function settle(db: Writer, outcomes: readonly Outcome[]): Promise<void> {
  await sql`
    update ldap_syncs s set state = o.state, error = o.error, finished_at = now()
    from jsonb_to_recordset(${JSON.stringify(outcomes.map(({ groupId, ...rest }) => ({ group_id: groupId, ...rest })))}::jsonb)
      o (group_id bigint, state text, error text)
    where s.namespace_id = o.group_id`.execute(db)
}

/** Groups whose sync has hung. */
export async function failHung(db: Writer): Promise<void> {
  await sql`
    update ldap_syncs set state = 'failed', error = 'The sync took too long to complete.', finished_at = now()
    where state = 'started' and started_at < now() - interval '1 hour'`.execute(db)
}

export interface GroupState {
  /** Ids of the groups above, the uppermost first. */
  readonly parents: readonly number[]
  readonly members: readonly CurrentMember[]
  readonly above: readonly ReadonlyMap<number, number>[]
  readonly ownedFromAbove: boolean
}

interface MemberRow extends CurrentMember {
  readonly groupId: number
}

/** What there is in these groups and above them: two statements, and each membership once, however many. */
export async function statesOf(db: Reader, groupIds: readonly number[]): Promise<Map<number, GroupState>> {
  const groups = await sql<{ id: number; parents: number[] }>`
    select n.id, to_json(trim_array(n.traversal_ids, 1)) as parents from namespaces n
    where n.id = any (${[...groupIds]}::bigint[])`.execute(db)
  const concerned = new Set([...groupIds, ...groups.rows.flatMap(({ parents }) => parents)])
  const { rows } = await sql<MemberRow>`
    select m.namespace_id as "groupId", m.user_id as "userId", m.access_level as level,
      m.member_role_id as "memberRoleId", m.ldap, m.override,
      u.kind = 'human' and u.state = 'active' and m.state = 'active' as counts
    from members m join users u on u.id = m.user_id
    where m.namespace_id = any (${[...concerned]}::bigint[])
      and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)
    order by m.id`.execute(db)
  const members = Map.groupBy(rows, ({ groupId }) => groupId)
  const of = (id: number): MemberRow[] => members.get(id) ?? []
  // One for all groups below it.
  const levels = new Map(
    [...new Set(groups.rows.flatMap(({ parents }) => parents))].map((id) => [
      id,
      new Map(of(id).map(({ userId, level }) => [userId, level])),
    ]),
  )
  const owned = new Set(
    rows.filter(({ level, counts }) => counts && level === Role.owner).map(({ groupId }) => groupId),
  )
  const parents = new Map(groups.rows.map((group) => [group.id, group.parents]))
  return new Map(
    groupIds.map((id) => {
      const line = parents.get(id) ?? []
      return [
        id,
        {
          parents: line,
          members: of(id),
          above: line.map((parent) => levels.get(parent)!),
          ownedFromAbove: line.some((parent) => owned.has(parent)),
        },
      ]
    }),
  )
}

/** Who is known in these directories, the first name of a user first. */
export async function identitiesOf(db: Reader): Promise<Identity[]> {
  const { rows } = await sql<Identity>`
    select i.user_id as "userId", i.provider, i.uid_key as key from user_identities i
    where i.provider like 'ldap%' order by i.id`.execute(db)
  return rows
}

/** Holds a group and those above it still: nobody else changes their owners. Tells whether the group is there. */
export async function lockGroup(tx: Tx, groupId: number): Promise<boolean> {
  const { rows } = await sql<{ id: number }>`
    select n.id from namespaces n
    where n.id = any (select unnest(g.traversal_ids) from namespaces g where g.id = ${groupId})
    order by n.id for no key update`.execute(tx)
  return rows.some(({ id }) => id === groupId)
}

/** Does what a plan says, one statement for each kind of change. Nobody is named as the one who did it. */
export async function apply(tx: Tx, groupId: number, changes: readonly Change[]): Promise<void> {
  const of = (...actions: Change['action'][]) => changes.filter(({ action }) => actions.includes(action))
  const table = (some: readonly Change[]) => sql`
    jsonb_to_recordset(${JSON.stringify(some)}::jsonb) c ("userId" bigint, "to" smallint, "memberRoleId" bigint)`
  if (of('remove').length > 0) {
    await sql`
      delete from members where namespace_id = ${groupId}
      and user_id = any (${of('remove').map(({ userId }) => userId)}::bigint[])`.execute(tx)
  }
  const changed = of('change', 'mark')
  if (changed.length > 0) {
    await sql`
      update members m set access_level = c.to, member_role_id = c."memberRoleId", ldap = true, updated_at = now()
      from ${table(changed)} where m.namespace_id = ${groupId} and m.user_id = c."userId"`.execute(tx)
  }
  if (of('add').length > 0) {
    await sql`
      insert into members as old (user_id, namespace_id, access_level, member_role_id, ldap)
      select u.id, ${groupId}, c.to, c."memberRoleId", true from ${table(of('add'))} join users u on u.id = c."userId"
      on conflict (user_id, namespace_id) do update set access_level = excluded.access_level,
        member_role_id = excluded.member_role_id, ldap = true, override = false, expires_at = null, state = 'active',
        created_by_id = null, created_at = now(), updated_at = now()`.execute(tx)
  }
}
