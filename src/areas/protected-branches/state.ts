import { admits, opensToDevelopers, type Actor, type ProjectSubject } from '../../access/index.ts'
import { protectionOf, type BranchRule } from './rules.ts'

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
    mayPush: mayPushCode && admits(protection.push, actor, project),
    mayMerge: admits(protection.merge, actor, project),
    developersMayPush: forDevelopers(protection.push),
    developersMayMerge: forDevelopers(protection.merge),
  }
}
