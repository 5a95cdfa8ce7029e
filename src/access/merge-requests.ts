import { sql, type RawBuilder } from 'kysely'
import { Role } from './levels.ts'
import { memberProjects, type Parts } from './visible.ts'

/*
 * Who may read merge requests (`read_merge_request`), as SQL. Each request carries its audience, which its project's
 * visibility and feature level make: 20 everybody, 10 users, 0 members, -10 Reporters, -20 nobody.
 */

const among = (table: string): RawBuilder<unknown> =>
  sql`m.project_id = any (array(select ${sql.ref(`${table}.id`)} from ${sql.table(table)}))`

/** Conditions on a request `m` of which one meets at most one, for the `actor` there is. */
export function visibleRequestParts(): Parts {
  return {
    given: sql`
      as_guest (id) as materialized (${memberProjects(Role.guest)}),
      as_planner (id) as materialized (${memberProjects(Role.planner)}),
      as_reporter (id) as materialized (${memberProjects(Role.reporter)})`,
    parts: [
      sql`m.audience = 20`,
      sql`m.audience = 10 and actor.id is not null and (actor.admin or not actor.external)`,
      sql`m.audience = 10 and actor.external and not actor.admin and ${among('as_guest')}`,
      sql`m.audience = 0 and actor.admin`,
      sql`m.audience = 0 and not actor.admin and ${among('as_planner')}`,
      sql`m.audience = -10 and actor.admin`,
      sql`m.audience = -10 and not actor.admin and ${among('as_reporter')}`,
    ],
  }
}

interface Reader {
  readonly audience: RawBuilder<unknown>
  readonly role: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  readonly admin: RawBuilder<unknown>
  readonly external: RawBuilder<unknown>
}

function reads({ audience, role, id, admin, external }: Reader): RawBuilder<boolean> {
  return sql`(
    ${audience} = 20 or (${audience} = 10 and ${id} is not null and (not ${external} or ${role} >= ${Role.guest}))
    or (${audience} = 0 and ${role} >= ${Role.planner}) or (${audience} = -10 and ${role} >= ${Role.reporter})
    or (${audience} > -20 and ${admin}))`
}

/** Whether the caller reads requests of the project that is the subject, in a `read` of an endpoint. */
export const subjectRequestsReadable = reads({
  audience: sql`merge_request_audience(subject.visibility, subject.feature_levels)`,
  role: sql`membership.role`,
  id: sql`actor.id`,
  admin: sql`coalesce(actor.admin, false)`,
  external: sql`coalesce(actor.external, true)`,
})

/** Whether user `u` reads requests of project `p` in namespace `n`. */
export const userReadsRequests = reads({
  audience: sql`merge_request_audience(p.visibility, p.feature_levels)`,
  role: sql`(
    select coalesce(max(access.access_level), 0) from effective_memberships(n.traversal_ids, p.id) access
    where access.user_id = u.id)`,
  id: sql`u.id`,
  admin: sql`u.admin`,
  external: sql`u.external`,
})
