import { branchState, isProtectedBranch, rulesOf } from '../areas/protected-branches/index.ts'
import type { RefProtection } from '../areas/pipelines/index.ts'

/** What pipelines ask of protected branches. There are no rules for tags yet. */
export const refProtection: RefProtection = {
  isProtected: async (db, projectId, { name, tag }) => !tag && isProtectedBranch(db, projectId, name),
  async mayRun(db, actor, project, { name, tag }) {
    if (tag) return true
    const state = branchState(name, await rulesOf(db, project.id), actor, project, true)
    return state.mayPush || state.mayMerge
  },
}
