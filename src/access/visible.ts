import { sql, type RawBuilder } from 'kysely'
import { isAdministrator, type Actor } from './actor.ts'
import { Role } from './levels.ts'

/*
 * What the caller may see, as SQL for lists. Inside a `read` of an endpoint the columns of `actor` are there; elsewhere
 * `actorRow` makes them.
 */

/** The actor as a row source with the columns that the fragments below use. */
export function actorRow(actor: Actor): RawBuilder<unknown> {
  const { user } = actor
  return sql`(select ${user?.id ?? null}::bigint as id, ${isAdministrator(actor)}::boolean as admin,
    ${user?.external ?? true}::boolean as external) actor`
}

const active = sql`m.user_id = actor.id and m.state = 'active'
  and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)`

/** Ids of projects of which the caller is a member, directly or through a group, from this level on. */
export function memberProjects(minimum: number = Role.guest): RawBuilder<unknown> {
  return sql`
    select m.project_id from members m
    where ${active} and m.project_id is not null and m.access_level >= ${minimum}
    union
    select inside.id from members m
    join namespaces below on below.traversal_ids @> array[m.namespace_id]
    join projects inside on inside.namespace_id = below.id
    where ${active} and m.namespace_id is not null and m.access_level >= ${minimum}`
}

/** Ids of groups of which the caller is a member, directly or through a group above, from this level on. */
export function memberGroups(minimum: number = Role.guest): RawBuilder<unknown> {
  return sql`
    select below.id from members m
    join namespaces below on below.traversal_ids @> array[m.namespace_id]
    where ${active} and m.namespace_id is not null and below.kind = 'group' and m.access_level >= ${minimum}`
}

/** Ids of groups that the caller may see for being a member: those, and all that lie above what he is a member of. */
export function knownGroups(): RawBuilder<unknown> {
  return sql`
    ${memberGroups()}
    union
    select unnest(inner_most.traversal_ids) from members m
    left join projects inside on inside.id = m.project_id
    join namespaces inner_most on inner_most.id = coalesce(m.namespace_id, inside.namespace_id)
    where ${active}`
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

/** Conditions on a project `p`. */
export function visibleProjectParts(): RawBuilder<unknown>[] {
  return visibleParts(sql`p.visibility`, sql`p.id in (${memberProjects()})`)
}

/** Conditions on a group `n`. */
export function visibleGroupParts(): RawBuilder<unknown>[] {
  return visibleParts(sql`n.visibility`, sql`n.id in (${knownGroups()})`)
}

/** Whether the caller may see project `p`, in lists that something else already keeps small. */
export const projectVisible = sql`(
  p.visibility = 20 or actor.admin or (p.visibility = 10 and not actor.external)
  or p.id in (${memberProjects()}))`

/** Whether the caller may see group `n`, in lists that something else already keeps small. */
export const groupVisible = sql`(
  n.visibility = 20 or actor.admin or (n.visibility = 10 and not actor.external) or n.id in (${knownGroups()}))`

/** The caller's level in project `p` of namespace `n`, as `access.project_access`, `access.group_access`, `access.role`. */
export const projectLevels = sql`
  left join lateral (
    select max(m.access_level) filter (where m.project_id is not null) as project_access,
      max(m.access_level) filter (where m.namespace_id is not null) as group_access,
      coalesce(max(m.access_level), 0) as role
    from effective_memberships(n.traversal_ids, p.id) m where m.user_id = actor.id) access on true`

/** The caller's level in group `n`, as `access.role`. */
export const groupLevels = sql`
  left join lateral (
    select coalesce(max(m.access_level), 0) as role
    from effective_memberships(n.traversal_ids, null) m where m.user_id = actor.id) access on true`
