import {
  accountProblem,
  decide,
  isAdministrator,
  type Actor,
  type Decision,
  type GroupSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import type { MembershipRow } from './store.ts'

type Subject = GroupSubject | ProjectSubject

/** What decided: what lets the user in, or what keeps him out. */
export const reasons = [
  'administrator',
  'visibility',
  'membership',
  'share',
  'custom_role',
  'account',
  'role',
  'rule',
  'policy_server',
] as const
export type Reason = (typeof reasons)[number]

export interface Explained {
  readonly allowed: boolean
  readonly by: Reason
  readonly because: string
  /** Those of the memberships that the decision stands on. */
  readonly decisive: ReadonlySet<MembershipRow>
}

/** On top of all that is decided here. */
export const keptByPolicyServer: Explained = {
  allowed: false,
  by: 'policy_server',
  because: 'the policy server that the instance asks does not let them in',
  decisive: new Set(),
}

/** Why somebody may do something, or may not: the very decision that his requests meet, and what it hangs on. */
export function explain(
  actor: Actor,
  subject: Subject,
  {
    ability,
    visible,
    memberships,
  }: {
    readonly ability: string
    readonly visible: boolean
    readonly memberships: readonly MembershipRow[]
  },
): Explained {
  const ask = (as: Subject, sees: boolean): Decision => decide(actor, ability as never, as as never, sees)
  const none = new Set<MembershipRow>()
  const problem = actor.user === null ? undefined : accountProblem(actor.user)
  if (problem !== undefined) return { allowed: false, by: 'account', because: problem, decisive: none }

  const { allowed, hidden, because } = ask(subject, visible)
  const highest = new Set(memberships.filter((one) => one.access_level === subject.role))
  if (!allowed) {
    if (hidden) return { allowed, by: 'visibility', because, decisive: none }
    const inRole = ask({ ...subject, role: highestRole, permissions: [] }, true).allowed
    return { allowed, by: inRole ? 'role' : 'rule', because, decisive: highest }
  }
  if (isAdministrator(actor)) return { allowed, by: 'administrator', because, decisive: none }
  if (ask({ ...subject, role: 0, permissions: [] }, true).allowed) {
    return { allowed, by: 'visibility', because, decisive: none }
  }
  if (!ask({ ...subject, permissions: [] }, true).allowed) {
    const giving = memberships.filter((one) => {
      const permissions = one.member_role?.permissions ?? []
      return ask({ ...subject, role: 0, permissions }, true).allowed
    })
    return { allowed, by: 'custom_role', because, decisive: new Set(giving) }
  }
  const direct = [...highest].some(({ via }) => via === null)
  return { allowed, by: direct ? 'membership' : 'share', because, decisive: highest }
}

/** With it only what is forbidden to everybody is refused. */
const highestRole = 50
