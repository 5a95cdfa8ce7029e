import type { BranchProtectionDefaults } from './objects.ts'

function protection(
  push: 30 | 40,
  merge: 30 | 40,
  more: Omit<BranchProtectionDefaults, 'allowed_to_push' | 'allowed_to_merge'>,
): BranchProtectionDefaults {
  return { allowed_to_push: [{ access_level: push }], allowed_to_merge: [{ access_level: merge }], ...more }
}

/** What the old integer stands for: nothing, partly, fully, against pushes, fully after the first push. */
const byLevel: readonly BranchProtectionDefaults[] = [
  protection(30, 30, {
    allow_force_push: true,
    developer_can_initial_push: false,
    code_owner_approval_required: false,
  }),
  protection(30, 40, { allow_force_push: false, developer_can_initial_push: false }),
  protection(40, 40, { allow_force_push: false, developer_can_initial_push: false }),
  protection(40, 30, { allow_force_push: false, developer_can_initial_push: false }),
  protection(40, 40, {
    allow_force_push: false,
    developer_can_initial_push: true,
    code_owner_approval_required: false,
  }),
]

export function branchProtectionOf(level: number): BranchProtectionDefaults {
  return byLevel[level] ?? byLevel[2]!
}
