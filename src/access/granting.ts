import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
import type { Actor } from './actor.ts'
import { isAdministrator } from './actor.ts'
import { Role } from './levels.ts'
import { permissionFor, type Holding, type Permission } from './permissions.ts'

/** Levels that a membership can have. Minimal access exists in top-level groups only, on paid plans. */
const assignable: ReadonlySet<number> = new Set([
  Role.guest,
  Role.planner,
  Role.reporter,
  Role.developer,
  Role.maintainer,
  Role.owner,
])

export function isAssignable(level: number, { minimal }: { minimal: boolean }): boolean {
  return assignable.has(level) || (minimal && level === Role.minimal)
}

/** Somebody's standing where memberships are looked after. */
interface Standing extends Holding {
  readonly role: number
}

/** Nobody gives a level above his own in the place. What is above all levels is for Owners to be told that it is none. */
export function mayGrant(actor: Actor, place: Standing, level: number): boolean {
  return isAdministrator(actor) || place.role >= Math.min(level, Role.owner)
}

/** Whether the caller looks after members only because a custom role lets him. */
export function actsThroughRole(actor: Actor, place: Standing): boolean {
  return (
    !isAdministrator(actor) &&
    place.role < Role.owner &&
    permissionFor('admin_group_member', place) === 'admin_group_member'
  )
}

/**
 * Whether the caller may change or take away a membership of this level: one no higher than his own, or, by a custom
 * role, every one that is no owner's.
 */
export function mayTouch(actor: Actor, place: Standing, level: number): boolean {
  return mayGrant(actor, place, level) || (actsThroughRole(actor, place) && level < Role.owner)
}

/** Who acts through a custom role gives no permission that he has not got. */
export function mayGrantPermissions(actor: Actor, place: Standing, given: readonly Permission[]): boolean {
  return !actsThroughRole(actor, place) || given.every((permission) => place.permissions.includes(permission))
}

/** A direct membership may not be lower than one in a group above. */
export function isBelow(level: number, inherited: number): boolean {
  return level < inherited
}

/**
 * Whether a group has an owner, no bot, by one of the memberships `owner` that count: of the group or of one above it.
 * `line` as of a subject.
 */
function isOwned(line: RawBuilder<unknown>, counts: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`exists (
    select from effective_memberships(${line}, null) owner join users person on person.id = owner.user_id
    where ${counts} and owner.access_level >= ${Role.owner} and person.kind <> 'project_bot')`
}

/** Whether the membership `m` of a group is its last owner's: without it nobody would own the group. */
export function isLastOwner(line: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(m.access_level >= ${Role.owner} and not ${isOwned(line, sql`owner.member_id <> m.id`)})`
}

/** The groups that a user owns directly, alone or with others, as rows of `id` and `alone`. */
export function ownedGroups(userId: number): RawBuilder<{ id: number; alone: boolean }> {
  return sql`
    select n.id, not ${isOwned(sql`n.traversal_ids`, sql`owner.user_id <> m.user_id`)} as alone
    from members m join namespaces n on n.id = m.namespace_id
    where m.user_id = ${userId} and n.kind = 'group' and m.state = 'active' and m.access_level >= ${Role.owner}
      and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)`
}
