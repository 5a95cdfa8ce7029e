import type { Plan } from '../../kernel/config/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { GuardServices } from './guard.ts'
import { groupRuleEndpoints } from './group-routes.ts'
import { protectedBranchEndpoints } from './routes.ts'
import { protectionOf } from './rules.ts'
import { rulesOf } from './store.ts'

export {
  branchGuard,
  collaborationGuard,
  type DoorGuardServices,
  type GuardServices,
  type Mover,
} from './guard.ts'
export { protectFirstBranch } from './judge.ts'
export { protectionOf, type BranchRule, type Protection } from './rules.ts'
export { branchState, type BranchState } from './state.ts'
export { collaborationBranches, mayPushCodeTo } from './collaboration.ts'
export { protectByFlags, unprotect } from './old-aliases.ts'
export { accessEntry, AccessLevel, accessLevel, type EntryRow } from './entities.ts'
export { checkName, targetOf } from './requested.ts'
export { allRules, rulesIn, rulesOf, targetColumns, rulesColumn } from './store.ts'
export type { RuleRow } from './entities.ts'
export { checkTargets } from './targets.ts'

/** Whether a branch of this name is protected. */
export async function isProtectedBranch(db: Reader, projectId: number, branch: string): Promise<boolean> {
  return protectionOf(branch, await rulesOf(db, projectId, null)) !== undefined
}

/** Protected branches of projects, and those that groups have for all their projects. */
export function protectedBranches(services: GuardServices & { plan: Plan }): { endpoints: Endpoint[] } {
  return { endpoints: [...protectedBranchEndpoints(services), ...groupRuleEndpoints(services)] }
}
