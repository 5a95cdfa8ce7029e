import { sql, type Reader } from '../../kernel/db/index.ts'
import { basicUserJson, type BasicUserRow } from '../users/index.ts'
import type { OwnerName } from './parse.ts'

/** A user whom a name of the file stands for. */
export interface OwnerRow {
  readonly name: string
  readonly user: BasicUserRow
}

const levels = { developer: 30, maintainer: 40, owner: 50 } as const

/** How a name is spelled in the file, the same for all spellings of it. */
export function spellingOf(owner: OwnerName): string {
  if (owner.kind === 'role') return `@@${owner.role}`
  return owner.kind === 'email' ? owner.address.toLowerCase() : `@${owner.path.toLowerCase()}`
}

/**
 * The users who stand behind these names and may approve: Developers of the project, by any way. A name of a group
 * stands for its direct members, if the project lies in it or was shared with it; a role for direct members of the
 * project with exactly that role. One statement.
 */
export async function findOwners(
  db: Reader,
  projectId: number,
  names: readonly OwnerName[],
): Promise<OwnerRow[]> {
  if (names.length === 0) return []
  const accounts = names.flatMap((name) => (name.kind === 'account' ? [name.path.toLowerCase()] : []))
  const emails = names.flatMap((name) => (name.kind === 'email' ? [name.address.toLowerCase()] : []))
  const roles = names.flatMap((name) => (name.kind === 'role' ? [levels[name.role]] : []))
  const live = sql`m.state = 'active' and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)`
  const { rows } = await sql<OwnerRow>`
    with place as (
      select p.id, n.traversal_ids as line from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${projectId}),
    named as (
      select '@' || lower(u.username) as name, u.id from users u where lower(u.username) = any (${accounts}::text[])
      union
      select lower(u.email), u.id from users u
      where lower(u.email) = any (${emails}::text[]) and u.confirmed_at is not null
      union
      select lower(u.public_email), u.id from users u where lower(u.public_email) = any (${emails}::text[])
      union
      select '@' || r.path_key, m.user_id
      from place, routes r join members m on m.namespace_id = r.namespace_id
      where r.path_key = any (${accounts}::text[]) and not r.redirect and ${live} and (
        r.namespace_id = any (place.line) or exists (
          select from project_shares s where s.project_id = place.id and s.group_id = r.namespace_id
            and s.access_level >= 30
            and (s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date)))
      union
      select case m.access_level when 30 then '@@developer' when 40 then '@@maintainer' else '@@owner' end, m.user_id
      from members m where m.project_id = ${projectId} and m.access_level = any (${roles}::int[]) and ${live})
    select named.name, ${basicUserJson('u')} as "user"
    from named join users u on u.id = named.id, place
    where u.state = 'active' and (
      select max(e.access_level) from effective_memberships(place.line, place.id) e where e.user_id = u.id) >= 30
    order by named.name, u.id`.execute(db)
  return rows
}
