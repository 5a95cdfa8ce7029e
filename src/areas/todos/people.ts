import type { RawBuilder } from 'kysely'
import { groupVisible, readsInternalNotesOf, readsNoteable, type Readable } from '../../access/index.ts'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { Mentions } from '../noteables/index.ts'

/** What somebody is to be told of. */
export interface Subject {
  readonly kind: Readable['kind']
  /** Null of a commit. */
  readonly id: number | null
  readonly sha?: string | null
  readonly projectId: number | null
  readonly namespaceId: number | null
  /** Only for those who read internal notes. */
  readonly internal?: boolean
}

/** Whether user `actor` may read it. */
export function reads(subject: Subject): RawBuilder<unknown> {
  const readable: Readable = {
    kind: subject.kind,
    id: sql`${subject.id}::bigint`,
    projectId: sql`${subject.projectId}::bigint`,
    namespaceId: sql`${subject.namespaceId}::bigint`,
  }
  const internal = subject.internal === true ? sql`and ${readsInternalNotesOf(readable)}` : sql``
  return sql`(actor.state = 'active' and actor.kind <> 'internal' and ${readsNoteable(readable)} ${internal})`
}

/** Of these users those who may read it. */
export async function readersAmong(
  db: Reader | Tx,
  subject: Subject,
  userIds: readonly number[],
): Promise<number[]> {
  if (userIds.length === 0) return []
  const { rows } = await sql<{ id: number }>`
    select actor.id from users actor
    where actor.id = any (${[...new Set(userIds)]}::bigint[]) and ${reads(subject)} order by actor.id`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

export interface Mentioned {
  readonly id: number
  /** By name, at the beginning of a line. */
  readonly addressed: boolean
}

/**
 * The people whom a text names, by themselves, by a group that its author sees and that may be named, or as everybody of the project: those
 * who may read it, but for the author.
 */
export async function peopleMentioned(
  db: Reader | Tx,
  subject: Subject,
  { names, addressed, everybody }: Mentions,
  authorId: number,
): Promise<Mentioned[]> {
  if (names.length === 0 && !everybody) return []
  const all =
    everybody && subject.projectId !== null
      ? sql`
          union select m.user_id from projects p join namespaces n on n.id = p.namespace_id
            cross join lateral effective_memberships(n.traversal_ids, p.id) m where p.id = ${subject.projectId}`
      : sql``
  const { rows } = await sql<{ id: number; username: string }>`
    with named (id) as (
      select u.id from users u where lower(u.username) = any (${[...names]}::text[])
      union
      select m.user_id from users actor cross join routes r join namespaces n on n.id = r.namespace_id
        cross join lateral effective_memberships(n.traversal_ids, null) m
      where actor.id = ${authorId} and r.path_key = any (${[...names]}::text[]) and not r.redirect
        and n.kind = 'group' and n.settings -> 'mentions_disabled' is distinct from 'true' and ${groupVisible}
      ${all})
    select actor.id, lower(actor.username) as username from named join users actor on actor.id = named.id
    where actor.id <> ${authorId} and ${reads(subject)} order by actor.id`.execute(db)
  return rows.map(({ id, username }) => ({ id, addressed: addressed.has(username) }))
}
