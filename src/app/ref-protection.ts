import { branchState, isProtectedBranch, rulesOf } from '../areas/protected-branches/index.ts'
import { isProtectedTag, mayCreateTag } from '../areas/protected-tags/index.ts'
import type { RefProtection } from '../areas/pipelines/index.ts'

/** What pipelines ask of protected branches and tags. */
export const refProtection: RefProtection = {
  isProtected: async (db, projectId, { name, tag }) =>
    tag ? isProtectedTag(db, projectId, name) : isProtectedBranch(db, projectId, name),
  async mayRun(db, actor, project, { name, tag }) {
    if (tag) return mayCreateTag(db, actor, project, name)
    const rules = await rulesOf(db, project.id, actor.user?.id ?? null)
    const state = branchState(name, rules, actor, project, true)
    return state.mayPush || state.mayMerge
  },
}
