import type { ProjectSubject } from '../../access/index.ts'
import { isCompleted, type Status } from '../../ci/index.ts'
import type { Database, Tx } from '../../kernel/db/index.ts'
import { enqueue, type Events, type News } from '../../tasks/index.ts'
import { ciSettings } from './ci-settings.ts'
import type { Deployments } from './deployments.ts'
import type { Inserted, NewPipelineRow } from './create-store.ts'
import { livingChildren } from './downstream-store.ts'
import { advance, type MachineJob } from './machine.ts'
import type { PersistentRefs } from './persistent-refs.ts'
import { taskNames, type JobEvent, type PipelineEvent } from './process-news.ts'
import * as store from './process-store.ts'
import { isRetriedByItself } from './rules.ts'

export interface ProcessServices {
  readonly db: Database
  readonly events: Events
  readonly deployments: Deployments
  readonly refs: PersistentRefs
}

type Changed = {
  readonly id: number
  readonly status: Status
  /** The resource that the job holds, where it holds one. */
  readonly resource_group?: string | null
}

/**
 * What happens to pipelines once they are there. Every step locks the pipeline's row, changes jobs, asks the pure
 * machine what follows, and writes the news of it, in one transaction.
 */
export class PipelineProcess {
  readonly #db: Database
  readonly #events: Events
  readonly #deployments: Deployments
  readonly #refs: PersistentRefs

  constructor({ db, events, deployments, refs }: ProcessServices) {
    this.#db = db
    this.#events = events
    this.#deployments = deployments
    this.#refs = refs
  }

  /** Looks whose turn it is. Nothing happens where nothing changed. */
  async advance(pipelineId: number): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const pipeline = await store.lockPipeline(tx, pipelineId)
      if (pipeline !== undefined) await this.advanceLocked(tx, pipeline, [])
    })
  }

  /** Runners have taken these jobs. */
  async started(jobs: readonly store.TakenJob[]): Promise<void> {
    const more = await store.startPipelines(this.#db.writer, jobs, (source) =>
      this.#events.announced(source, ['pipeline', 'job']),
    )
    for (const id of more) await this.advance(id)
  }

  /** Ends a job; false when it had ended, or was never in one of the statuses of `from`. */
  async end(
    job: { readonly id: number; readonly pipelineId: number },
    end: store.JobEnd,
    from?: readonly string[],
  ): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const pipeline = await store.lockPipeline(tx, job.pipelineId)
      const ended = pipeline && (await store.endJob(tx, job.id, job.pipelineId, end, from))
      if (pipeline === undefined || ended === undefined) return false
      const changed: Changed[] = [ended]
      if (ended.status === 'failed') {
        if (isRetriedByItself(ended, end)) {
          await this.#clone(tx, pipeline, [ended.id], null)
        } else if (!ended.allow_failure && pipeline.cancel_on_job_failure === 'all') {
          changed.push(...(await store.cancelJobs(tx, pipeline.id)))
        }
      }
      await this.advanceLocked(tx, pipeline, changed)
      return true
    })
  }

  drop(job: { id: number; pipelineId: number }, reason: string, from?: readonly string[]): Promise<boolean> {
    return this.end(job, { to: 'failed', reason, exitCode: null, coverage: null }, from)
  }

  /**
   * Cancels what can be canceled of a pipeline, or of these jobs of it, and the child pipelines of what it cancels;
   * `children`: those of all jobs, whether these had ended or not.
   */
  async cancel(
    pipelineId: number,
    options: {
      ids?: readonly number[]
      interruptibleOnly?: boolean
      canceledBy?: number
      children?: boolean
    } = {},
  ): Promise<void> {
    await this.#db.transaction(async (tx) => {
      const pipeline = await store.lockPipeline(tx, pipelineId)
      if (pipeline === undefined) return
      const canceled = await store.cancelJobs(tx, pipelineId, options)
      if (canceled.length > 0 || options.children === true)
        await this.#cancelChildren(tx, pipelineId, canceled, options)
      if (options.canceledBy !== undefined && canceled.length > 0) {
        await tx
          .updateTable('ci_pipelines as p')
          .set({ auto_canceled_by_id: options.canceledBy })
          .where('p.id', '=', pipelineId)
          .execute()
      }
      await this.advanceLocked(tx, pipeline, canceled)
    })
  }

  /**
   * New jobs for these; the skipped ones after them wait again (`all`: all skipped ones). Answers the new jobs' ids.
   */
  async retry(
    pipelineId: number,
    choose: (jobs: readonly MachineJob[]) => { ids: readonly number[]; reopen: readonly number[] | 'all' },
    userId: number,
  ): Promise<number[]> {
    await this.#refs.ensure(pipelineId)
    return this.#db.transaction(async (tx) => {
      const pipeline = await store.lockPipeline(tx, pipelineId)
      if (pipeline === undefined) return []
      const { ids, reopen } = choose(await store.latestJobs(tx, pipelineId))
      if (ids.length === 0) return []
      const made = await this.#clone(tx, pipeline, ids, userId)
      await store.reopenSkipped(tx, pipelineId, reopen === 'all' ? undefined : reopen)
      await this.advanceLocked(tx, pipeline, [])
      return made.map(({ id }) => id)
    })
  }

  /** Puts a job that waits for somebody or something into the queue; false when it does not wait any more. */
  async enqueueJob(
    pipelineId: number,
    jobId: number,
    from: readonly string[],
    status: 'pending' | 'waiting_for_resource',
    prepare?: (tx: Tx) => Promise<void>,
  ): Promise<boolean> {
    await this.#refs.ensure(pipelineId)
    const done = await this.change(pipelineId, async (tx, pipeline) => {
      const jobs = await store.latestJobs(tx, pipelineId)
      const job = jobs.find(({ id }) => id === jobId)
      if (job === undefined || !from.includes(job.status)) return { result: false, changed: [] }
      await prepare?.(tx)
      const to = status === 'pending' ? beforeRunner(pipeline, job) : status
      const moved = await store.moveJobs(tx, [{ job, status: to }])
      await this.followUp(tx, pipeline, moved)
      return { result: true, changed: moved }
    })
    return done ?? false
  }

  /** Any other change of jobs: `work` makes it, then the machine goes on. */
  async change<T>(
    pipelineId: number,
    work: (tx: Tx, pipeline: store.LockedPipeline) => Promise<{ result: T; changed: readonly Changed[] }>,
  ): Promise<T | undefined> {
    return this.#db.transaction(async (tx) => {
      const pipeline = await store.lockPipeline(tx, pipelineId)
      if (pipeline === undefined) return undefined
      const { result, changed } = await work(tx, pipeline)
      await this.advanceLocked(tx, pipeline, changed)
      return result
    })
  }

  /** The pipeline's row is locked. `changed`: what the caller did to jobs, for the news. */
  async advanceLocked(tx: Tx, before: store.LockedPipeline, changed: readonly Changed[]): Promise<void> {
    for (const { status, resource_group = null } of changed) {
      if (isCompleted(status)) await this.#freeResource(tx, before.project_id, resource_group)
    }
    const jobs = await store.latestJobs(tx, before.id)
    // A pipeline without jobs has its status from its creation.
    if (jobs.length === 0) return
    const open = before.deploys && jobs.some(({ status }) => status === 'created')
    const holds = open ? await this.#deployments.held(tx, before.id) : undefined
    const step = advance(jobs, new Date(), { prepared: !before.needs_ref, ...(holds && { holds }) })
    const moved = step.changed.length === 0 ? [] : await store.moveJobs(tx, step.changed)
    await this.followUp(tx, before, moved)
    if (before.deploys) {
      await this.#deployments.follow(
        tx,
        before.id,
        changed.map(({ id }) => id),
      )
    }

    const after = step.pipeline
    const startedAt = earliest(jobs)
    const status = after.status === before.status ? undefined : after.status
    if (
      after.status !== before.status ||
      after.hasWarnings !== before.has_warnings ||
      after.coverage !== before.coverage ||
      (before.started_at === null && startedAt !== null)
    ) {
      const { followed } = await store.changePipeline(tx, before.id, after, startedAt)
      if (followed && status !== undefined) await enqueue(tx, taskNames.follow, { pipeline: before.id })
    }
    await this.#announce(tx, before, status, [...changed, ...moved])
  }

  async #clone(
    tx: Tx,
    pipeline: store.LockedPipeline,
    ids: readonly number[],
    userId: number | null,
  ): Promise<{ id: number; old_id: number }[]> {
    const made = await store.cloneJobs(tx, ids, userId)
    if (pipeline.deploys) {
      await this.#deployments.again(tx, { projectId: pipeline.project_id, pipelineId: pipeline.id })
    }
    return made
  }

  /** What goes with a new pipeline, in the transaction that makes it. */
  async announceNew(tx: Tx, project: ProjectSubject, row: NewPipelineRow, made: Inserted): Promise<void> {
    const jobs = made.jobs.filter(({ status }) => status !== 'created')
    await this.#announce(
      tx,
      { id: made.id, project_id: row.projectId, user_id: row.userId },
      row.state.status,
      jobs,
    )
    await this.followUp(tx, { id: made.id, project_id: row.projectId }, jobs)
    if (!ciSettings(project).autoCancelPendingPipelines) return
    if (made.jobs.length === 0) return
    for (const id of made.older) await enqueue(tx, taskNames.cancelRedundant, { pipeline: id, by: made.id })
  }

  async #announce(
    tx: Tx,
    pipeline: { readonly id: number; readonly project_id: number; readonly user_id: number | null },
    status: Status | undefined,
    jobs: readonly Changed[],
  ): Promise<void> {
    const about = { projectId: pipeline.project_id, userId: pipeline.user_id }
    const news: News[] = []
    if (status !== undefined) {
      const payload: PipelineEvent = { pipelineId: pipeline.id, status }
      news.push({ kind: 'pipeline', ...about, payload })
    }
    if (jobs.length > 0) {
      const payload: JobEvent = {
        pipelineId: pipeline.id,
        jobs: jobs.map(({ id, status: to }) => ({ id, status: to })),
      }
      news.push({ kind: 'job', ...about, payload })
    }
    await this.#events.announceAll(tx, news)
  }

  /** Statuses that nobody leaves without being woken. */
  async followUp(
    tx: Tx,
    { id: pipelineId, project_id: projectId }: Pick<store.LockedPipeline, 'id' | 'project_id'>,
    jobs: readonly (Pick<store.MovedJob, 'id' | 'kind' | 'status' | 'scheduled_at'> & {
      readonly resource_group?: string | null
    })[],
  ): Promise<void> {
    if (jobs.some(({ status }) => status === 'preparing')) {
      const since = new Date().toISOString()
      await enqueue(
        tx,
        taskNames.writeRef,
        { pipeline: pipelineId, since },
        { key: `${taskNames.writeRef}:${pipelineId}` },
      )
    }
    for (const { id, kind, status, scheduled_at, resource_group = null } of jobs) {
      if (status === 'scheduled' && scheduled_at !== null) {
        await enqueue(tx, taskNames.startDelayed, { job: id }, { runAt: new Date(scheduled_at) })
      } else if (status === 'waiting_for_resource') {
        await enqueue(tx, taskNames.grantResource, { project: projectId, job: id })
      } else if (status === 'pending' && kind === 'bridge') {
        await enqueue(tx, taskNames.runBridge, { job: id })
      } else if (status === 'skipped' || status === 'manual') {
        // Others may have waited for its turn.
        await this.#freeResource(tx, projectId, resource_group)
      }
    }
  }

  async #cancelChildren(
    tx: Tx,
    pipelineId: number,
    canceled: readonly Changed[],
    { ids, interruptibleOnly = false, canceledBy }: Parameters<PipelineProcess['cancel']>[1] & object,
  ): Promise<void> {
    const whole = ids === undefined && !interruptibleOnly
    const bridges = whole ? undefined : canceled.map(({ id }) => id)
    for (const child of await livingChildren(tx, pipelineId, bridges)) {
      await enqueue(tx, taskNames.cancel, {
        pipeline: child,
        ...(canceledBy !== undefined && { by: canceledBy }),
      })
    }
  }

  async #freeResource(tx: Tx, projectId: number, group: string | null): Promise<void> {
    if (group !== null) await enqueue(tx, taskNames.grantResource, { project: projectId, group })
  }
}

/** Where a job goes whose turn it is. */
export function beforeRunner(
  { needs_ref }: Pick<store.LockedPipeline, 'needs_ref'>,
  { kind }: { readonly kind: string },
): 'pending' | 'preparing' {
  return needs_ref && kind === 'build' ? 'preparing' : 'pending'
}

function earliest(jobs: readonly MachineJob[]): Date | null {
  const times = jobs.flatMap(({ started_at }) => (started_at === null ? [] : [started_at.getTime()]))
  return times.length === 0 ? null : new Date(Math.min(...times))
}
