import { forbidden, notFound } from '../kernel/errors/index.ts'
import { groupAbilities, type GroupAbility } from './abilities/group.ts'
import { instanceAbilities, type InstanceAbility } from './abilities/instance.ts'
import { jobAbilities, runnerAbilities, type JobAbility, type RunnerAbility } from './abilities/machine.ts'
import { sees, type Rule } from './abilities/condition.ts'
import { projectAbilities, type ProjectAbility } from './abilities/project.ts'
import { isAdministrator, type Actor } from './actor.ts'
import { deployTokenDecision } from './deploy-token.ts'
import { roleName } from './levels.ts'
import { permissionFor } from './permissions.ts'
import type {
  AnySubject,
  GroupSubject,
  InstanceSubject,
  JobSubject,
  ProjectSubject,
  RunnerSubject,
} from './subjects.ts'

export type Ability = ProjectAbility | GroupAbility | InstanceAbility | RunnerAbility | JobAbility

export interface Decision {
  readonly allowed: boolean
  /** The caller must not learn that the subject exists. */
  readonly hidden: boolean
  /** In words, for people: which rule decided. */
  readonly because: string
}

/** The abilities of each kind of subject; `docs/abilities.md` is printed from it. */
export const abilities = {
  instance: instanceAbilities,
  project: projectAbilities,
  group: groupAbilities,
  runner: runnerAbilities,
  job: jobAbilities,
} as const

/** A group shows itself to members of what lies inside, which only the database knows; see `subjects.ts`. */
export function isVisible(actor: Actor, subject: AnySubject): boolean {
  return subject.kind === 'project' || subject.kind === 'group'
    ? sees(actor, subject.visibility, subject.role)
    : true
}

export function decide(
  actor: Actor,
  ability: ProjectAbility,
  subject: ProjectSubject,
  visible?: boolean,
): Decision
export function decide(
  actor: Actor,
  ability: GroupAbility,
  subject: GroupSubject,
  visible?: boolean,
): Decision
export function decide(
  actor: Actor,
  ability: InstanceAbility,
  subject: InstanceSubject,
  visible?: boolean,
): Decision
export function decide(
  actor: Actor,
  ability: RunnerAbility,
  subject: RunnerSubject,
  visible?: boolean,
): Decision
export function decide(actor: Actor, ability: JobAbility, subject: JobSubject, visible?: boolean): Decision
export function decide(
  actor: Actor,
  ability: string,
  subject: AnySubject,
  visible = isVisible(actor, subject),
): Decision {
  const rule = (abilities[subject.kind] as Readonly<Record<string, Rule<AnySubject> | undefined>>)[ability]
  if (rule === undefined)
    return { allowed: false, hidden: !visible, because: `there is no ability ${ability}` }
  const who = describe(actor, subject)
  const byToken = actor.deployToken && deployTokenDecision(actor.deployToken, ability, subject)
  if (byToken !== undefined) return { allowed: byToken, hidden: false, because: `${who}, in its reach` }
  if (!visible)
    return { allowed: false, hidden: true, because: `${who}; the ${subject.kind} is not visible to them` }

  const forbidding = rule.never?.find((condition) => condition.holds(actor, subject))
  if (forbidding !== undefined) {
    return { allowed: false, hidden: false, because: `${who}; never while: ${forbidding.label}` }
  }
  if (isAdministrator(actor)) return { allowed: true, hidden: false, because: `${who}; administrators may` }
  const allowing = rule.allow.find((condition) => condition.holds(actor, subject))
  if (allowing !== undefined) return { allowed: true, hidden: false, because: `${who}; ${allowing.label}` }
  const permission = 'permissions' in subject ? permissionFor(ability, subject) : undefined
  if (permission !== undefined) {
    return { allowed: true, hidden: false, because: `${who}; custom role with ${permission}` }
  }
  const needed = rule.allow.map((condition) => condition.label).join(', or ')
  return { allowed: false, hidden: false, because: `${who}; needs ${needed}` }
}

/** Throws the refusal of a decision: 404 where existence is secret, else 403. */
export function require(actor: Actor, ability: ProjectAbility, subject: ProjectSubject): void
export function require(actor: Actor, ability: GroupAbility, subject: GroupSubject): void
export function require(actor: Actor, ability: InstanceAbility, subject: InstanceSubject): void
export function require(actor: Actor, ability: Ability, subject: AnySubject): void {
  const { allowed, hidden } = decide(actor, ability as never, subject as never)
  if (allowed) return
  throw hidden ? notFound(subject.kind === 'project' ? 'Project' : 'Group') : forbidden()
}

/** Whether an ability is held, where the answer only shapes what is shown. */
export function may(actor: Actor, ability: ProjectAbility, subject: ProjectSubject): boolean
export function may(actor: Actor, ability: GroupAbility, subject: GroupSubject): boolean
export function may(actor: Actor, ability: InstanceAbility, subject: InstanceSubject): boolean
export function may(actor: Actor, ability: Ability, subject: AnySubject): boolean {
  return decide(actor, ability as never, subject as never).allowed
}

function describe(actor: Actor, subject: AnySubject): string {
  const name = actor.user?.username ?? actor.deployToken?.username ?? 'nobody signed in'
  const admin = isAdministrator(actor) ? ', administrator' : ''
  const role =
    'role' in subject
      ? `, ${subject.role === 0 ? 'no member' : `${roleName(subject.role)} (${subject.role})`}`
      : ''
  return `${name}${admin}${role}`
}
