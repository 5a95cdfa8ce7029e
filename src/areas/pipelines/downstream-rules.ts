import type { Status } from '../../ci/index.ts'

/** Child pipelines within child pipelines. */
const deepest = 2
const mostAlike = 2

export interface Ancestor {
  readonly id: number
  readonly project_id: number
  readonly ref: string
  readonly source: string
}

/**
 * Why a pipeline may not lead to this one (completions, 3.16), as the failure reason of its trigger job. `ancestry`: the
 * pipeline itself first, then those that led to it.
 */
export function hierarchyProblem(
  next: Omit<Ancestor, 'id'>,
  ancestry: readonly Ancestor[],
  /** Pipelines that the first of them has led to, itself counted, and how many those may be. */
  treeSize: number,
  largestTree: number,
): string | undefined {
  if (next.source === 'parent_pipeline') {
    const top = ancestry.findIndex(({ source }) => source !== 'parent_pipeline')
    if ((top === -1 ? ancestry.length : top) >= deepest) return 'reached_max_descendant_pipelines_depth'
  } else {
    const alike = ancestry.filter(
      ({ project_id, ref, source }) =>
        project_id === next.project_id && ref === next.ref && source === next.source,
    )
    if (alike.length >= mostAlike) return 'pipeline_loop_detected'
  }
  return treeSize >= largestTree ? 'reached_max_pipeline_hierarchy_size' : undefined
}

/** What a trigger job that follows a pipeline is in while that is in `status`. */
export function followedStatus(strategy: 'depend' | 'mirror', status: Status): Status {
  switch (status) {
    case 'success':
    case 'canceled':
    case 'failed':
      return status
    case 'skipped':
      return strategy === 'mirror' ? 'skipped' : 'failed'
    case 'manual':
      return strategy === 'mirror' ? 'manual' : 'running'
    default:
      return 'running'
  }
}
