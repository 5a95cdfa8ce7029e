import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
import { isAdministrator, type Actor } from './actor.ts'
import { Role } from './levels.ts'

/*
 * What the caller may see, as SQL for lists. Inside a `read` of an endpoint the columns of `actor` are there; elsewhere
 * `actorRow` makes them.
 */

/**
 * The actor as a row source with the columns that the fragments below use. Fenced off, so that one plan serves everybody:
 * made for a single actor it looks cheaper, and would be made each time.
 */
export function actorRow(actor: Actor): RawBuilder<unknown> {
  const { user } = actor
  return sql`(select ${user?.id ?? null}::bigint as id, ${isAdministrator(actor)}::boolean as admin,
    ${user?.external ?? true}::boolean as external offset 0) actor`
}

/** Ids of projects of which the caller is a member in any way, from this level on. */
export function memberProjects(minimum: number = Role.guest): RawBuilder<unknown> {
  return sql`
    select reachable.project_id from reachable_projects(actor.id) reachable
    where reachable.access_level >= ${minimum}`
}

/** Ids of groups of which the caller is a member in any way, from this level on. */
export function memberGroups(minimum: number = Role.guest): RawBuilder<unknown> {
  return sql`
    select reachable.group_id from reachable_groups(actor.id) reachable where reachable.access_level >= ${minimum}`
}

/** Ids of groups that the caller may see for being a member: those, and all that lie above what he is a member of. */
export function knownGroups(): RawBuilder<unknown> {
  return sql`select known.group_id from known_groups(actor.id) known`
}

/**
 * All that the caller may see, as conditions of which a row meets at most one, each for one visibility. `members` are
 * the ids that he sees for being a member.
 */
function visibleParts(visibility: RawBuilder<unknown>, member: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return [
    sql`${visibility} = 20`,
    sql`${visibility} = 10 and actor.id is not null and (actor.admin or not actor.external)`,
    sql`${visibility} = 10 and actor.external and not actor.admin and ${member}`,
    sql`${visibility} = 0 and actor.admin`,
    sql`${visibility} = 0 and not actor.admin and ${member}`,
  ]
}

/** What a list is put together from: conditions of which a row meets at most one, and the tables that they refer to. */
export interface Parts {
  readonly given: RawBuilder<unknown>
  readonly parts: readonly RawBuilder<unknown>[]
}

/**
 * As an array, so that an index finds the rows: of a set the planner knows nothing and may compare everything with
 * everything.
 */
function collected(ids: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`mine (id) as materialized (${ids})`
}

const isMine = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`${id} = any (array(select mine.id from mine))`

/** Conditions on a project `p`. With a level: those in which the caller has at least that one. */
export function visibleProjectParts(level?: number): Parts {
  const mine = isMine(sql`p.id`)
  return {
    given: collected(memberProjects(level)),
    parts: level === undefined ? visibleParts(sql`p.visibility`, mine) : [mine],
  }
}

/** Conditions on a group `n`. With a level: those in which the caller has at least that one. */
export function visibleGroupParts(level?: number): Parts {
  const mine = isMine(sql`n.id`)
  return level === undefined
    ? { given: collected(knownGroups()), parts: visibleParts(sql`n.visibility`, mine) }
    : { given: collected(memberGroups(level)), parts: [mine] }
}

/** Whether the caller may see project `p`, in lists that something else already keeps small. */
export const projectVisible = sql`(
  p.visibility = 20 or actor.admin or (p.visibility = 10 and not actor.external)
  or p.id in (${memberProjects()}))`

/** Whether the caller may see group `n`, in lists that something else already keeps small. */
export const groupVisible = sql`(
  n.visibility = 20 or actor.admin or (n.visibility = 10 and not actor.external) or n.id in (${knownGroups()}))`

/**
 * The caller's level in project `p` of namespace `n`, as `access.project_access`, `access.group_access`, `access.role`,
 * and what custom roles give him there, as `access.permissions`.
 */
export const projectLevels = sql`
  left join lateral (
    select max(m.access_level) filter (where m.project_id is not null) as project_access,
      max(m.access_level) filter (where m.namespace_id is not null) as group_access,
      coalesce(max(m.access_level), 0) as role,
      permissions_of_roles(array_agg(m.member_role_id) filter (where m.member_role_id is not null)) as permissions
    from effective_memberships(n.traversal_ids, p.id) m where m.user_id = actor.id) access on true`

/**
 * Whether the caller may put something into group `n`, in lists that `groupLevels` is joined to: the abilities
 * `create_projects` and `create_subgroup`, in SQL.
 */
export function groupsWithCreation(of: 'projects' | 'subgroups'): RawBuilder<unknown> {
  const open = sql`not exists (
    select from namespaces above where above.id = any (n.traversal_ids)
      and (above.archived or above.marked_for_deletion_at is not null))`
  const level =
    of === 'projects'
      ? sql`case n.settings ->> 'project_creation_level' when 'owner' then ${Role.owner}::int
          when 'maintainer' then ${Role.maintainer}::int when 'noone' then null
          when 'administrator' then null else ${Role.developer}::int end`
      : sql`case n.settings ->> 'subgroup_creation_level' when 'owner' then ${Role.owner}::int
          else ${Role.maintainer}::int end`
  return sql`(n.kind = 'group' and ${open} and (access.role >= ${level} or (actor.admin and ${level} is not null)))`
}

/** The caller's level in group `n`, as `access.role`. */
export const groupLevels = sql`
  left join lateral (
    select coalesce(max(m.access_level), 0) as role
    from effective_memberships(n.traversal_ids, null) m where m.user_id = actor.id) access on true`
