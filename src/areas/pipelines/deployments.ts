import type { Environment } from '../../ci/index.ts'
import type { Reader, Tx } from '../../kernel/db/index.ts'
import type { Hold } from './machine.ts'

/**
 * What pipelines tell of jobs that name an environment, in the transactions that change these; the area that keeps
 * environments listens, plugged in by `app/`.
 */
export interface Deployments {
  /** The jobs of a pipeline, not begun, that are held when their turn comes. */
  held(db: Reader, pipelineId: number): Promise<ReadonlyMap<number, Hold>>
  /** The same of jobs that are about to be made, by the ids given here. */
  heldNew(
    db: Reader,
    by: { readonly projectId: number; readonly userId: number | null },
    jobs: readonly { readonly id: number; readonly environment: Environment }[],
  ): Promise<ReadonlyMap<number, Hold>>
  /** The latest jobs of a pipeline that a user may not start for the sake of their environments. */
  refused(db: Reader, pipelineId: number, userId: number): Promise<ReadonlySet<number>>
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
