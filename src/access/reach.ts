import { sql, type RawBuilder } from 'kysely'
import { Role } from './levels.ts'

type Level = 'developer' | 'maintainer' | 'owner'

const own = (level: Level): RawBuilder<unknown> => sql`
  m.user_id = actor.id and m.access_level >= ${Role[level]} and m.state = 'active'
  and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)`

/** Ids of the groups in which `actor` has this role or a higher one, directly or from above. Fits an `in (...)`. */
export function groupsWithRole(level: Level): RawBuilder<unknown> {
  return sql`
    select g.id from members m join namespaces g on g.traversal_ids @> array[m.namespace_id] and g.kind = 'group'
    where ${own(level)}`
}

/** The same for projects, those in groups included. */
export function projectsWithRole(level: Level): RawBuilder<unknown> {
  return sql`
    select m.project_id from members m where m.project_id is not null and ${own(level)}
    union all
    select p.id from members m join namespaces g on g.traversal_ids @> array[m.namespace_id]
      join projects p on p.namespace_id = g.id
    where ${own(level)}`
}
