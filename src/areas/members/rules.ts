import { isAssignable, isBelow, mayGrant, Role, roleName, type Actor } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import { forbidden, invalid } from '../../kernel/errors/index.ts'
import type { Place } from './place.ts'

/** What is asked for a membership. */
export interface Wish {
  readonly accessLevel: number
  /** `YYYY-MM-DD`. */
  readonly expiresAt: string | null
}

/** Somebody who is, or is to become, a member. */
export interface Candidate {
  readonly id: number
  readonly username: string
  readonly kind: string
  /** The direct membership in the place, unless it has expired; see `LockedMember` for `fixed`. */
  readonly direct: { readonly access_level: number; readonly fixed: boolean } | null
  /** The highest direct membership in a group above. */
  readonly inherited: { readonly access_level: number; readonly group: string } | null
}

export interface Circumstances {
  /** Minimal access can be given here. */
  readonly minimal: boolean
  readonly now: Date
}

/** Whose highest level anywhere is no higher takes no seat: on the top plan guests are free. */
export function levelsWithoutSeat(plan: Plan): number {
  return plan === 'ultimate' ? Role.guest : Role.none
}

export function circumstancesOf(place: Place, paid: boolean): Circumstances {
  return { minimal: paid && place.kind === 'group' && place.above.length === 0, now: new Date() }
}

/** What is wrong with a wish, by attribute. */
export type Faults = Readonly<Record<string, string[]>>

/** The faults of a membership (part 2 completions, 1.3); none for one that may be. */
export function faultsOf(wish: Wish, candidate: Candidate, { minimal, now }: Circumstances): Faults {
  const faults: Record<string, string[]> = {}
  const { inherited } = candidate
  if (!isAssignable(wish.accessLevel, { minimal })) faults['access_level'] = ['is not included in the list']
  else if (inherited !== null && isBelow(wish.accessLevel, inherited.access_level)) {
    faults['access_level'] = [
      `should be greater than or equal to ${roleName(inherited.access_level)} inherited membership from group ${inherited.group}`,
    ]
  }
  if (wish.expiresAt !== null && wish.expiresAt < now.toISOString().slice(0, 10)) {
    faults['expires_at'] = ['cannot be a date in the past']
  }
  if (candidate.kind === 'project_bot' && candidate.direct === null) {
    faults['user_id'] = ['project bots cannot be added to other groups / projects']
  }
  return faults
}

export function refuseFaults(faults: Faults): void {
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

/** Refuses to give a level above one's own, or to touch somebody who has one. */
export function refuseAbove(actor: Actor, place: Place, ...levels: readonly number[]): void {
  if (!levels.every((level) => mayGrant(actor, place, level))) throw forbidden()
}

/** Why a caller may not make somebody a member, or make another member of him; undefined when he may. */
export function unauthorizedText(
  actor: Actor,
  place: Place,
  wish: Wish,
  { direct }: Candidate,
): string | undefined {
  if (direct === null)
    return mayGrant(actor, place, wish.accessLevel) ? undefined : 'not authorized to create member'
  const may =
    !direct.fixed && [wish.accessLevel, direct.access_level].every((level) => mayGrant(actor, place, level))
  return may ? undefined : 'not authorized to update member'
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
}

/** Faults in one sentence: `Access level is not included in the list` */
export function sentence(faults: Faults): string {
  return Object.entries(faults)
    .flatMap(([attribute, texts]) => texts.map((text) => `${attributeNames[attribute] ?? attribute} ${text}`))
    .join(', ')
}
