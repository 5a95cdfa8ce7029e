import type { AccessEntry } from '../../access/index.ts'
import { matchesWildcard } from '../../kernel/lib/wildcard.ts'

export type Action = 'push' | 'merge' | 'unprotect'

/** As refusals of entries begin. */
export const actionWords: Readonly<Record<Action, string>> = {
  push: 'Push',
  merge: 'Merge',
  unprotect: 'Unprotect',
}

export interface Entry extends AccessEntry {
  readonly id: number
  readonly action: Action
}

/** A rule: a branch name or wildcard, and who may do what to branches of that name. */
export interface BranchRule {
  readonly id: number
  readonly name: string
  /** A group has it for all its projects. */
  readonly inherited: boolean
  readonly allowForcePush: boolean
  readonly codeOwnerApprovalRequired: boolean
  readonly entries: readonly Entry[]
}

/** All rules that a branch falls under, as one. */
export interface Protection {
  readonly push: readonly Entry[]
  readonly merge: readonly Entry[]
  readonly allowForcePush: boolean
  /** The strictest rule wins here. */
  readonly codeOwnerApprovalRequired: boolean
}

/**
 * What holds for a branch; undefined when it is not protected. Matching rules are combined, the most permissive wins,
 * and an exact name does not override a wildcard (completions, 5.6).
 */
export function protectionOf(branch: string, rules: readonly BranchRule[]): Protection | undefined {
  const matching = rules.filter(({ name }) => matchesWildcard(name, branch))
  if (matching.length === 0) return undefined
  const entries = matching.flatMap((rule) => rule.entries)
  return {
    push: entries.filter(({ action }) => action === 'push'),
    merge: entries.filter(({ action }) => action === 'merge'),
    allowForcePush: matching.some((rule) => rule.allowForcePush),
    codeOwnerApprovalRequired: matching.some((rule) => rule.codeOwnerApprovalRequired),
  }
}

/** One update of a branch, and what its maker may do. */
export interface BranchUpdate {
  readonly branch: string
  readonly kind: 'create' | 'update' | 'delete'
  readonly isDefault: boolean
  readonly isForced: () => Promise<boolean>
  /** The new head lies on a branch that is protected already. */
  readonly onProtectedBranch: () => Promise<boolean>
  /** The new head is the result of a merge request that is being merged. */
  readonly isMergeResult: () => Promise<boolean>
  readonly via: 'git' | 'web'
  readonly protection: Protection | undefined
  readonly may: {
    /** Push to protected branches of these rules. */
    readonly push: boolean
    readonly merge: boolean
    /** Delete protected branches: Maintainers. */
    readonly deleteProtected: boolean
  }
}

/** Names that are an id of a commit, or begin with one: nobody could tell them apart. */
const likeAnId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:-?\/|$)/i
/** Names that git lets pass and then takes for something else. */
const misleading = /^(?:HEAD$|-|refs\/(?:heads|remotes)\/)/

/** Why an update is refused, in the words that the git client shows, or undefined (completions, 5.9, in its order). */
export async function refusal(update: BranchUpdate): Promise<string | undefined> {
  const { branch, kind, protection, may } = update
  if (kind === 'delete' && update.isDefault) return 'The default branch of a project cannot be deleted.'
  if (kind !== 'delete' && likeAnId.test(branch)) {
    return 'You cannot create a branch with a SHA-1 or SHA-256 branch name.'
  }
  if (kind !== 'delete' && misleading.test(branch)) return 'You cannot create a branch with an invalid name.'
  if (protection === undefined) return undefined
  if (!protection.allowForcePush && (await update.isForced())) {
    return 'You are not allowed to force push code to a protected branch on this project.'
  }
  switch (kind) {
    case 'create':
      if (may.push) return undefined
      if (!may.merge) return 'You are not allowed to create protected branches on this project.'
      if (!(await update.onProtectedBranch())) {
        return 'You can only use an existing protected branch ref as the basis of a new protected branch.'
      }
      return update.via === 'web'
        ? undefined
        : 'You can only create protected branches using the web interface and API.'
    case 'delete':
      if (!may.deleteProtected) {
        return 'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.'
      }
      return update.via === 'web'
        ? undefined
        : 'You can only delete protected branches using the web interface.'
    case 'update':
      if (may.push) return undefined
      if (!(await update.isMergeResult())) {
        return 'You are not allowed to push code to protected branches on this project.'
      }
      return may.merge
        ? undefined
        : 'You are not allowed to merge code into protected branches on this project.'
  }
}
