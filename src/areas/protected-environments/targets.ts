import { Role } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { unprocessable } from '../../kernel/errors/index.ts'
import { actionWords, type Entry } from './requested.ts'
import type { Place } from './store.ts'

/**
 * Refuses entries that name whom a place does not know: of a project users are its members and groups those that it is
 * shared with or lies below; of a group users are its Maintainers and groups those below it.
 */
export async function checkTargets(tx: Tx, place: Place, entries: readonly Entry[]): Promise<void> {
  const users = await known(tx, place, 'users', idsOf(entries, 'user_id'))
  const groups = await known(tx, place, 'groups', idsOf(entries, 'group_id'))
  const problems = entries.flatMap(({ action, user_id, group_id }) => {
    const problem =
      user_id !== null && !users.has(user_id)
        ? `user is not a member of the ${place.kind}`
        : group_id !== null && !groups.has(group_id)
          ? `group does not belong to the ${place.kind}`
          : undefined
    return problem === undefined ? [] : [`${actionWords[action]} ${problem}`]
  })
  if (problems.length > 0) throw unprocessable([...new Set(problems)])
}

function idsOf(entries: readonly Entry[], key: 'user_id' | 'group_id'): number[] {
  return entries.flatMap((entry) => entry[key] ?? [])
}

async function known(
  tx: Tx,
  { kind, id }: Place,
  what: 'users' | 'groups',
  ids: readonly number[],
): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const found = await sql<{ id: number }>`
    select x.id from unnest(${[...ids]}::bigint[]) x (id) where ${fits[kind][what](id)}`.execute(tx)
  return new Set(found.rows.map((row) => row.id))
}

const fits = {
  project: {
    users: (id: number) => sql`exists (
      select from projects p join namespaces n on n.id = p.namespace_id,
        effective_memberships(n.traversal_ids, p.id) m
      where p.id = ${id} and m.user_id = x.id)`,
    groups: (id: number) => sql`exists (
      select from projects p join namespaces n on n.id = p.namespace_id
        join namespaces g on g.id = x.id and g.kind = 'group'
      where p.id = ${id} and (g.id = any (n.traversal_ids) or exists (
        select from project_shares s where s.project_id = p.id and s.group_id = g.id
          and (s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date))))`,
  },
  group: {
    users: (id: number) => sql`exists (
      select from namespaces n, effective_memberships(n.traversal_ids, null) m
      where n.id = ${id} and m.user_id = x.id and m.access_level >= ${Role.maintainer})`,
    groups: (id: number) => sql`exists (
      select from namespaces g
      where g.id = x.id and g.kind = 'group' and g.id <> ${id} and ${id} = any (g.traversal_ids))`,
  },
}
