import type { FailureReason } from '../../ci/index.ts'

/** Of jobs that fail when their turn comes, since whoever started them may not deploy there. */
export const heldFailure: FailureReason = 'protected_environment_failure'
