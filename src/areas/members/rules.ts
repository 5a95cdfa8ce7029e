import {
  actsThroughRole,
  isAssignable,
  isBelow,
  mayGrant,
  mayGrantPermissions,
  mayTouch,
  roleName,
  type Actor,
} from '../../access/index.ts'
import { forbidden, invalid, refusedAsError } from '../../kernel/errors/index.ts'
import type { MemberRoleRow } from '../member-roles/index.ts'
import type { Place } from './place.ts'

/** What is asked for a membership. */
export interface Wish {
  readonly accessLevel: number
  /** `YYYY-MM-DD`. */
  readonly expiresAt: string | null
  /** Null: none any more. Undefined: nothing is said of it. */
  readonly memberRole?: MemberRoleRow | null | undefined
}

/** A membership as it was. */
export interface Held {
  readonly access_level: number
  readonly member_role_id: number | null
}

/** Somebody who is, or is to become, a member. */
export interface Candidate {
  readonly id: number
  readonly username: string
  readonly kind: string
  /** The direct membership in the place, unless it has expired; see `LockedMember` for `fixed`. */
  readonly direct: (Held & { readonly expires_at: string | null; readonly fixed: boolean }) | null
  /** The highest direct membership in a group above. */
  readonly inherited: { readonly access_level: number; readonly group: string } | null
}

export interface Circumstances {
  /** Minimal access can be given here. */
  readonly minimal: boolean
  /** The top of the tree. */
  readonly top: number | undefined
  readonly now: Date
}

export function circumstancesOf(place: Place, paid: boolean): Circumstances {
  const minimal = paid && place.kind === 'group' && place.above.length === 0
  return { minimal, top: place.line[0], now: new Date() }
}

/** What is wrong with a wish, by attribute. */
export type Faults = Readonly<Record<string, string[]>>

/** The faults of a membership (part 2 completions, 1.3); none for one that may be. */
export function faultsOf(wish: Wish, candidate: Candidate, { minimal, top, now }: Circumstances): Faults {
  const faults: Record<string, string[]> = {}
  const { inherited } = candidate
  if (!isAssignable(wish.accessLevel, { minimal })) faults['access_level'] = ['is not included in the list']
  else if (inherited !== null && isBelow(wish.accessLevel, inherited.access_level)) {
    faults['access_level'] = [
      `should be greater than or equal to ${roleName(inherited.access_level)} inherited membership from group ${inherited.group}`,
    ]
  }
  Object.assign(faults, roleFaults(wish, candidate.direct, top))
  if (wish.expiresAt !== null && wish.expiresAt < now.toISOString().slice(0, 10)) {
    faults['expires_at'] = ['cannot be a date in the past']
  }
  if (candidate.kind === 'project_bot' && candidate.direct === null) {
    faults['user_id'] = ['project bots cannot be added to other groups / projects']
  }
  return faults
}

/** A custom role goes with its base level, and stays in its tree. */
function roleFaults({ accessLevel, memberRole }: Wish, held: Held | null, top: number | undefined): Faults {
  if (memberRole === undefined) {
    return held === null || held.member_role_id === null || held.access_level === accessLevel
      ? {}
      : { access_level: ['cannot be changed since member is associated with a custom role'] }
  }
  if (memberRole === null) return {}
  return {
    ...(memberRole.base_access_level !== accessLevel && {
      member_role_id: ["role's base access level does not match the access level of the membership"],
    }),
    ...(memberRole.group_id !== null &&
      memberRole.group_id !== top && {
        member_namespace: ["must be in same hierarchy as custom role's namespace"],
      }),
  }
}

export function refuseFaults(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** Refuses to touch a membership of a level that is above the caller. */
export function refuseTouch(actor: Actor, place: Place, level: number): void {
  if (!mayTouch(actor, place, level)) throw forbidden()
}

/** Refuses to give a new member more than the caller has. */
export function refuseGrant(actor: Actor, place: Place, wish: Wish): void {
  if (!mayGrant(actor, place, wish.accessLevel)) {
    throw actsThroughRole(actor, place) ? refusedAsError(400, tooHigh) : forbidden()
  }
  if (!mayGrantPermissions(actor, place, wish.memberRole?.permissions ?? [])) throw forbidden()
}

const tooHigh = "the member access level can't be higher than the current user's one"

/** Whether the caller may make one membership of another: who acts through a custom role may always lower one. */
function mayChange(actor: Actor, place: Place, before: Held, wish: Wish): boolean {
  const lower = actsThroughRole(actor, place) && wish.accessLevel < before.access_level
  return (
    mayTouch(actor, place, before.access_level) &&
    (lower || mayGrant(actor, place, wish.accessLevel)) &&
    mayGrantPermissions(actor, place, wish.memberRole?.permissions ?? [])
  )
}

export function refuseChange(actor: Actor, place: Place, before: Held, wish: Wish): void {
  if (!mayChange(actor, place, before, wish)) throw forbidden()
}

/** Why a caller may not make somebody a member, or make another member of him; undefined when he may. */
export function unauthorizedText(
  actor: Actor,
  place: Place,
  wish: Wish,
  { direct }: Candidate,
): string | undefined {
  if (direct === null) {
    const may =
      mayGrant(actor, place, wish.accessLevel) &&
      mayGrantPermissions(actor, place, wish.memberRole?.permissions ?? [])
    return may ? undefined : 'not authorized to create member'
  }
  return !direct.fixed && mayChange(actor, place, direct, wish)
    ? undefined
    : 'not authorized to update member'
}

/** How many users one call may add. */
export const mostAtOnce = 100

export interface Failure {
  readonly username: string
  readonly text: string
}

export interface OutcomeEntity {
  readonly status: 'success' | 'error'
  readonly message?: string
  readonly reason?: string
}

export const nobodyNamed: OutcomeEntity = {
  status: 'error',
  message: 'No users specified.',
  reason: 'blank_invites_error',
}
export const tooManyNamed: OutcomeEntity = {
  status: 'error',
  message: `Too many users specified (limit is ${mostAtOnce})`,
  reason: 'too_many_invites_error',
}

/** `a: text, b: text and c: text` */
export function outcome(failures: readonly Failure[]): OutcomeEntity {
  if (failures.length === 0) return { status: 'success' }
  const told = failures.map(({ username, text }) => `${username}: ${text}`)
  const last = told.pop()!
  return { status: 'error', message: told.length === 0 ? last : `${told.join(', ')} and ${last}` }
}

const attributeNames: Readonly<Record<string, string>> = {
  access_level: 'Access level',
  expires_at: 'Expires at',
  user_id: 'User',
  member_role_id: 'Member role',
  member_namespace: 'Member namespace',
}

/** Faults in one sentence: `Access level is not included in the list` */
export function sentence(faults: Faults): string {
  return Object.entries(faults)
    .flatMap(([attribute, texts]) => texts.map((text) => `${attributeNames[attribute] ?? attribute} ${text}`))
    .join(', ')
}
