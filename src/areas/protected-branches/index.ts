import { admits, opensToDevelopers, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Plan } from '../../kernel/config/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { GuardServices } from './guard.ts'
import { groupRuleEndpoints } from './group-routes.ts'
import { protectedBranchEndpoints } from './routes.ts'
import { protectionOf, type BranchRule } from './rules.ts'
import { rulesOf } from './store.ts'

export { branchGuard, type DoorGuardServices, type GuardServices, type Mover } from './guard.ts'
export { protectFirstBranch } from './judge.ts'
export { protectionOf, type BranchRule, type Protection } from './rules.ts'
export { protectByFlags, unprotect } from './old-aliases.ts'
export { accessEntry, AccessLevel, accessLevel, type EntryRow } from './entities.ts'
export { targetOf } from './requested.ts'
export { allRules, rulesIn, rulesOf, targetColumns, rulesColumn } from './store.ts'
export type { RuleRow } from './entities.ts'
export { checkTargets } from './targets.ts'

/** What other areas ask of a branch: jobs and variables for protected refs, pipelines by those who may push or merge. */
export interface BranchState {
  readonly protected: boolean
  readonly mayPush: boolean
  readonly mayMerge: boolean
  readonly developersMayPush: boolean
  readonly developersMayMerge: boolean
}

/** The state of one branch for a caller, from all rules of its project. */
export function branchState(
  branch: string,
  rules: readonly BranchRule[],
  actor: Actor,
  project: ProjectSubject,
  mayPushCode: boolean,
): BranchState {
  const protection = protectionOf(branch, rules)
  if (protection === undefined) {
    return {
      protected: false,
      mayPush: mayPushCode,
      mayMerge: mayPushCode,
      developersMayPush: false,
      developersMayMerge: false,
    }
  }
  const forDevelopers = (entries: typeof protection.push): boolean =>
    opensToDevelopers(entries.map(({ accessLevel }) => accessLevel))
  return {
    protected: true,
    mayPush: admits(protection.push, actor, project),
    mayMerge: admits(protection.merge, actor, project),
    developersMayPush: forDevelopers(protection.push),
    developersMayMerge: forDevelopers(protection.merge),
  }
}

/** Whether a branch of this name is protected. */
export async function isProtectedBranch(db: Reader, projectId: number, branch: string): Promise<boolean> {
  return protectionOf(branch, await rulesOf(db, projectId, null)) !== undefined
}

/** Protected branches of projects, and those that groups have for all their projects. */
export function protectedBranches(services: GuardServices & { plan: Plan }): { endpoints: Endpoint[] } {
  return { endpoints: [...protectedBranchEndpoints(services), ...groupRuleEndpoints(services)] }
}
