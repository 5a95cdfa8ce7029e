import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
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
  /** The project, and the namespaces above it. */
  readonly project: RawBuilder<unknown>
  readonly line: RawBuilder<unknown>
}

/** Looked at only of those whose role is too low: a custom role lets them approve, so they see what. */
function approvesByRole({ id, role, project, line }: Reader): RawBuilder<boolean> {
  return sql`(${role} >= ${Role.minimal} and ${role} < ${Role.reporter} and exists (
    select from effective_memberships(${line}, ${project}) access join member_roles held on held.id = access.member_role_id
    where access.user_id = ${id} and 'admin_merge_request' = any (held.permissions)))`
}

function reads(reader: Reader): RawBuilder<boolean> {
  const { audience, role, id, admin, external } = reader
  return sql`(
    ${audience} = 20 or (${audience} = 10 and ${id} is not null and (not ${external} or ${role} >= ${Role.guest}))
    or (${audience} = 0 and ${role} >= ${Role.planner}) or (${audience} = -10 and ${role} >= ${Role.reporter})
    or (${audience} > -20 and (${admin} or ${approvesByRole(reader)})))`
}

/** Whether the caller reads requests of the project that is the subject, in a `read` of an endpoint. */
export const subjectRequestsReadable = reads({
  audience: sql`merge_request_audience(subject.visibility, subject.feature_levels)`,
  role: sql`membership.role`,
  id: sql`actor.id`,
  admin: sql`coalesce(actor.admin, false)`,
  external: sql`coalesce(actor.external, true)`,
  project: sql`subject.id`,
  line: sql`subject.line`,
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
  project: sql`p.id`,
  line: sql`n.traversal_ids`,
})
