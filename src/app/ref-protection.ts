import { branchState, isProtectedBranch, protectionOf, rulesOf } from '../areas/protected-branches/index.ts'
import { isProtectedTag, mayCreateTag } from '../areas/protected-tags/index.ts'
import type { RefProtection } from '../areas/pipelines/index.ts'

/** What pipelines ask of protected branches and tags. */
export const refProtection: RefProtection = {
  isProtected: async (db, projectId, { name, tag }) =>
    tag ? isProtectedTag(db, projectId, name) : isProtectedBranch(db, projectId, name),
  async judge(db, actor, project, { name, tag }) {
    if (tag) {
      const [isProtected, mayRun] = await Promise.all([
        isProtectedTag(db, project.id, name),
        mayCreateTag(db, actor, project, name),
      ])
      return { isProtected, mayRun }
    }
    const rules = await rulesOf(db, project.id, actor.user?.id ?? null)
    const state = branchState(name, rules, actor, project, true)
    return {
      isProtected: protectionOf(name, rules) !== undefined,
      mayRun: state.mayPush || state.mayMerge,
    }
  },
  mayRun: async (db, actor, project, ref) => (await refProtection.judge(db, actor, project, ref)).mayRun,
}
