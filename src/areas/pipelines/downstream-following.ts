import { may } from '../../access/index.ts'
import { isCompleted } from '../../ci/index.ts'
import { followedStatus } from './downstream-rules.ts'
import { BridgeFailure, findProject, type BridgeScene, type BridgeServices } from './downstream-scene.ts'
import * as store from './downstream-store.ts'
import { cancelJobs, latestJobs, reopenSkipped } from './process-store.ts'
import { skippedAfter } from './rules.ts'

type Following = Pick<BridgeServices, 'db' | 'process'>

/** Whatever follows this pipeline is told of its status. */
export async function tellFollowers(services: Following, pipelineId: number): Promise<void> {
  for (const { id, pipeline_id } of await store.followersOf(services.db.reader, pipelineId)) {
    await settleBridge(services, id, pipeline_id)
  }
}

/** Brings a trigger job to where the pipeline that it follows is now. */
export async function settleBridge(
  { process }: Following,
  bridgeId: number,
  pipelineId: number,
): Promise<void> {
  await process.change(pipelineId, async (tx, pipeline) => {
    const nothing = { result: undefined, changed: [] }
    const now = await store.followed(tx, bridgeId)
    if (now?.strategy == null || now.followed === null) return nothing
    const status = followedStatus(now.strategy, now.followed)
    if (status === now.status || now.status === 'pending') return nothing
    // Whoever canceled the job meant it; only a pipeline that runs anew opens it again.
    if (now.status === 'canceled' && status !== 'running') return nothing
    const failed = status === 'failed'
    const changed = [
      ...(await store.setBridge(tx, bridgeId, status, { reason: failed ? 'unknown_failure' : null })),
    ]
    if (status === 'running' && isCompleted(now.status)) {
      await reopenSkipped(
        tx,
        pipelineId,
        skippedAfter(await latestJobs(tx, pipelineId), now.name, now.stage_index),
      )
    }
    if (failed && !now.allow_failure && pipeline.cancel_on_job_failure === 'all') {
      return { result: undefined, changed: [...changed, ...(await cancelJobs(tx, pipelineId))] }
    }
    return { result: undefined, changed }
  })
}

/** Follows the newest pipeline of another project's default branch. */
export async function mirrorPipeline(
  { db, process }: Following,
  { row, actor, variables }: BridgeScene,
  written: string,
): Promise<void> {
  const target = await findProject(db, actor, variables.expand(written))
  if (target === undefined) throw new BridgeFailure('upstream_bridge_project_not_found')
  if (!may(actor, 'read_pipeline', target)) throw new BridgeFailure('insufficient_upstream_permissions')
  const pipeline =
    row.mirrors_pipeline_id ?? (await store.newestOn(db.reader, target.id, target.defaultBranch ?? ''))
  if (pipeline === undefined)
    throw new BridgeFailure('upstream_bridge_project_not_found', 'There is no pipeline to follow')
  await process.change(row.pipeline.id, async (tx) => ({
    result: undefined,
    changed: await store.setBridge(tx, row.id, 'running', { mirrors: pipeline }),
  }))
}
