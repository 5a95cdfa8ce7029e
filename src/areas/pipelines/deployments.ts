import type { Environment } from '../../ci/index.ts'
import type { Tx } from '../../kernel/db/index.ts'

/**
 * What pipelines tell of jobs that name an environment, in the transactions that change these; the area that keeps
 * environments listens, plugged in by `app/`.
 */
export interface Deployments {
  /** A new pipeline has jobs for these. */
  begin(
    tx: Tx,
    of: { readonly projectId: number; readonly pipelineId: number },
    named: readonly Environment[],
  ): Promise<void>
  /** Jobs of a pipeline were made anew. */
  again(tx: Tx, of: { readonly projectId: number; readonly pipelineId: number }): Promise<void>
  /** Jobs of a pipeline, among them `changed`, have got other statuses. */
  follow(tx: Tx, pipelineId: number, changed: readonly number[]): Promise<void>
}
