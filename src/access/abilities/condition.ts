import { isAdministrator, type Actor } from '../actor.ts'
import { roleName } from '../levels.ts'

/** One reason to allow or to forbid. `label` is what the printed table and an explanation show. */
export interface Condition<Subject> {
  readonly label: string
  readonly holds: (actor: Actor, subject: Subject) => boolean
}

/** One must allow and none forbid; what no rule allows is denied. Administrators are allowed unless `never` holds. */
export interface Rule<Subject> {
  readonly allow: readonly Condition<Subject>[]
  readonly never?: readonly Condition<Subject>[]
}

export type Rules<Subject, Ability extends string> = Readonly<Record<Ability, Rule<Subject>>>

export function member(level: number): Condition<{ readonly role: number }> {
  return { label: `${roleName(level)} or higher`, holds: (_, subject) => subject.role >= level }
}

/** A role whose holders may what some above them may not. */
export function exactly(level: number): Condition<{ readonly role: number }> {
  return { label: roleName(level), holds: (_, subject) => subject.role === level }
}

export const everybody: Condition<unknown> = { label: 'everybody', holds: () => true }

export const signedIn: Condition<unknown> = { label: 'signed in', holds: (actor) => actor.user !== null }

export const administrator: Condition<unknown> = {
  label: 'administrator',
  holds: (actor) => isAdministrator(actor),
}

/** Levels that everybody reaches who is not kept out by visibility. */
export function sees(actor: Actor, visibility: number, role: number): boolean {
  if (role >= 10 || isAdministrator(actor)) return true
  if (visibility === 20) return true
  return visibility === 10 && actor.user !== null && !actor.user.external
}
