import type { Database } from '../../kernel/db/index.ts'
import { protectionOf, rulesOf } from '../protected-branches/index.ts'
import { compilePattern } from './rules.ts'

export interface BranchChoice {
  readonly project_id: number
  readonly only_protected_branches: boolean
  readonly branch_regex: string | null
}

/** Which branches a mirror is about. */
export async function branchFilter(
  { db }: { readonly db: Database },
  { project_id, only_protected_branches, branch_regex }: BranchChoice,
): Promise<(branch: string) => boolean> {
  if (only_protected_branches) {
    const rules = await rulesOf(db.reader, project_id, null)
    return (branch) => protectionOf(branch, rules) !== undefined
  }
  const pattern = branch_regex === null ? undefined : compilePattern(branch_regex)
  return pattern === undefined ? () => true : (branch) => pattern.matcher(branch).find()
}
