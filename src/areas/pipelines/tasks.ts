import { sql, type Database } from '../../kernel/db/index.ts'
import { enqueue, type Schedule, type Task } from '../../tasks/index.ts'
import type { Deployments } from './deployments.ts'
import type { Downstream } from './downstream.ts'
import { heldFailure } from './held-failure.ts'
import type { PersistentRefs } from './persistent-refs.ts'
import { taskNames } from './process-news.ts'
import { beforeRunner, type PipelineProcess } from './process-pipeline.ts'
import { latestJobs, lockPipeline, moveJobs } from './process-store.ts'
import { nextInGroup } from './resource-turn.ts'

export const pipelineSweeps: readonly Schedule[] = [{ task: taskNames.tidyRefs, pattern: '* * * * *' }]

/** Work that pipelines leave for later: delayed jobs, resource groups, trigger jobs, redundant pipelines, refs. */
export function pipelineTasks(
  { db, deployments }: { db: Database; deployments: Deployments },
  process: PipelineProcess,
  downstream: Downstream,
  refs: PersistentRefs,
): Task[] {
  return [
    {
      name: taskNames.startDelayed,
      run: (payload) => startDelayed({ db, process, deployments }, (payload as { job: number }).job),
    },
    {
      name: taskNames.grantResource,
      run: (payload) =>
        grantResource(db, process, payload as { project: number; job?: number; group?: string }),
    },
    { name: taskNames.runBridge, run: (payload) => downstream.run((payload as { job: number }).job) },
    {
      name: taskNames.follow,
      run: (payload) => downstream.follow((payload as { pipeline: number }).pipeline),
    },
    {
      name: taskNames.cancel,
      run: async (payload) => {
        const { pipeline, by } = payload as { pipeline: number; by?: number }
        await process.cancel(pipeline, by === undefined ? {} : { canceledBy: by })
      },
    },
    {
      name: taskNames.cancelRedundant,
      run: (payload) => cancelRedundant(db, process, payload as { pipeline: number; by: number }),
    },
    {
      name: taskNames.writeRef,
      run: (payload) => prepareJobs(db, process, refs, payload as { pipeline: number; since: string }),
    },
    { name: taskNames.tidyRefs, run: () => refs.tidy() },
  ]
}

interface JobRow {
  readonly id: number
  readonly pipeline_id: number
  readonly resource_group: string | null
}

async function findJob(db: Database, id: number, status: string): Promise<JobRow | undefined> {
  return db.reader
    .selectFrom('ci_jobs as j')
    .select(['j.id', 'j.pipeline_id', 'j.resource_group'])
    .where('j.id', '=', id)
    .where('j.status', '=', status)
    .executeTakeFirst()
}

async function startDelayed(
  { db, process, deployments }: { db: Database; process: PipelineProcess; deployments: Deployments },
  id: number,
): Promise<void> {
  const job = await findJob(db, id, 'scheduled')
  if (job === undefined) return
  const hold = (await deployments.held(db.reader, job.pipeline_id)).get(id)
  if (hold === 'refused') {
    await process.drop({ id, pipelineId: job.pipeline_id }, heldFailure, ['scheduled'])
    return
  }
  if (hold === 'approval') {
    await process.change(job.pipeline_id, async (tx) => {
      const jobs = await latestJobs(tx, job.pipeline_id)
      const waiting = jobs.filter((one) => one.id === id && one.status === 'scheduled')
      const changed = await moveJobs(
        tx,
        waiting.map((one) => ({ job: one, status: 'manual' as const })),
      )
      return { result: undefined, changed }
    })
    return
  }
  const status = job.resource_group === null ? 'pending' : 'waiting_for_resource'
  await process.enqueueJob(job.pipeline_id, id, ['scheduled'], status)
}

/** Gives a resource that nobody holds to the job whose turn it is by the mode of its group. */
async function grantResource(
  db: Database,
  process: PipelineProcess,
  { project, job, group: named }: { project: number; job?: number; group?: string },
): Promise<void> {
  const group =
    named ?? (job === undefined ? null : (await findJob(db, job, 'waiting_for_resource'))?.resource_group)
  if (group === null || group === undefined) return
  const next = await nextInGroup(db.reader, project, group)
  if (next?.status !== 'waiting_for_resource') return
  await process.change(next.pipeline_id, async (tx, pipeline) => {
    // Only then the look, which must see what whoever held the lock before has done.
    await sql`select pg_advisory_xact_lock(hashtextextended(${`${project}:${group}`}, 7))`.execute(tx)
    const free = await sql<{ free: boolean }>`
      select not exists (
        select from ci_jobs j where j.project_id = ${project} and j.resource_group = ${group}
          and j.status in ('preparing', 'pending', 'running', 'canceling')) as free`.execute(tx)
    if (free.rows[0]?.free !== true) return { result: undefined, changed: [] }
    const waiting = await sql<{ id: number }>`
      select j.id from ci_jobs j where j.id = ${next.id} and j.status = 'waiting_for_resource' for update`.execute(
      tx,
    )
    if (waiting.rows.length === 0) return { result: undefined, changed: [] }
    const changed = await moveJobs(tx, [{ job: next, status: beforeRunner(pipeline, next) }])
    await process.followUp(tx, pipeline, changed)
    return { result: undefined, changed }
  })
}

/** Cancels what a newer commit of the ref has made superfluous, as far as the old pipeline allows. */
async function cancelRedundant(
  db: Database,
  process: PipelineProcess,
  { pipeline: id, by }: { pipeline: number; by: number },
): Promise<void> {
  const mode = await db.transaction(async (tx) => {
    const pipeline = await lockPipeline(tx, id)
    if (pipeline?.cancel_on_new_commit !== 'conservative') return pipeline?.cancel_on_new_commit
    const started = await sql`
      select from ci_jobs j where j.pipeline_id = ${id} and not j.interruptible and j.started_at is not null
      limit 1`.execute(tx)
    return started.rows.length === 0 ? 'conservative' : 'none'
  })
  if (mode === undefined || mode === 'none') return
  await process.cancel(id, { interruptibleOnly: mode === 'interruptible', canceledBy: by })
}

/** Milliseconds between two tries to write a ref, and after which nobody hopes any more. */
const nextTry = 2000
const longestPreparation = 3600_000

/** Writes the ref that jobs wait for, and lets them go on; what keeps it from being written may pass. */
async function prepareJobs(
  db: Database,
  process: PipelineProcess,
  refs: PersistentRefs,
  { pipeline: id, since }: { pipeline: number; since: string },
): Promise<void> {
  const outcome = await refs.ensure(id)
  if (outcome === 'unwritable' && Date.now() - Date.parse(since) < longestPreparation) {
    const key = `${taskNames.writeRef}:${id}`
    await enqueue(
      db.writer,
      taskNames.writeRef,
      { pipeline: id, since },
      { key, runAt: new Date(Date.now() + nextTry) },
    )
    return
  }
  const waiting = await process.change(id, async (tx, pipeline) => {
    const jobs = (await latestJobs(tx, id)).filter(({ status }) => status === 'preparing')
    const ready = outcome === 'written' && !pipeline.needs_ref
    const changed = ready
      ? await moveJobs(
          tx,
          jobs.map((job) => ({ job, status: 'pending' as const })),
        )
      : []
    return { result: ready ? [] : jobs, changed }
  })
  for (const job of outcome === 'written' ? [] : (waiting ?? [])) {
    await process.drop({ id: job.id, pipelineId: id }, 'unmet_prerequisites', ['preparing'])
  }
}
