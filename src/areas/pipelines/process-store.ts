import type { RawBuilder } from 'kysely'
import { alive, cancelable, type Retry, type Status } from '../../ci/index.ts'
import { sql, type Tx, type Writer } from '../../kernel/db/index.ts'
import { jobsChannel } from './channels.ts'
import { heldFailure } from './held-failure.ts'
import type { MachineJob, PipelineState } from './machine.ts'

/** A pipeline while its row is locked. */
export interface LockedPipeline {
  readonly id: number
  readonly project_id: number
  readonly user_id: number | null
  readonly ref: string
  readonly tag: boolean
  readonly status: string
  readonly has_warnings: boolean
  readonly coverage: number | null
  readonly duration: number | null
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly cancel_on_new_commit: string
  readonly cancel_on_job_failure: string
  readonly deploys: boolean
  /** Its jobs must not run before `refs/pipelines/:id` is there. */
  readonly needs_ref: boolean
}

/** Whoever changes the jobs of a pipeline locks it first; only the claim of a job by a runner does not. */
export async function lockPipeline(tx: Tx, id: number): Promise<LockedPipeline | undefined> {
  return tx
    .selectFrom('ci_pipelines as p')
    .select([
      'p.id',
      'p.project_id',
      'p.user_id',
      'p.ref',
      'p.tag',
      'p.status',
      'p.has_warnings',
      'p.coverage',
      'p.duration',
      'p.started_at',
      'p.finished_at',
      'p.cancel_on_new_commit',
      'p.cancel_on_job_failure',
      'p.deploys',
      'p.needs_ref',
    ])
    .where('p.id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

/** The latest job of each name. */
export async function latestJobs(tx: Tx, pipelineId: number): Promise<MachineJob[]> {
  return tx
    .selectFrom('ci_jobs as j')
    .select([
      'j.id',
      'j.name',
      'j.kind',
      'j.stage_index',
      'j.needs',
      'j.run_when',
      'j.status',
      'j.allow_failure',
      'j.start_in',
      'j.resource_group',
      'j.started_at',
      'j.finished_at',
      'j.coverage',
    ])
    .where('j.pipeline_id', '=', pipelineId)
    .where('j.retried', '=', false)
    .orderBy('j.stage_index')
    .orderBy('j.id')
    .execute()
}

export interface MovedJob {
  readonly id: number
  readonly kind: string
  readonly status: Status
  readonly scheduled_at: Date | string | null
  readonly resource_group: string | null
}

/**
 * Gives jobs their new statuses, all in one statement, and tells the runners when one waits for them. One that fails
 * before it runs does so for its environment, and one that waits for somebody else than its definition says is manual.
 */
export async function moveJobs(
  tx: Tx,
  changes: readonly { job: { id: number }; status: Status }[],
): Promise<MovedJob[]> {
  const { rows } = await sql<MovedJob>`
    with moved as (
      update ci_jobs j set status = c.status, updated_at = now(),
        queued_at = case when c.status = 'pending' then now() else j.queued_at end,
        run_when = case when c.status = 'manual' and j.run_when <> 'delayed' then 'manual' else j.run_when end,
        failure_reason = case when c.status = 'failed' then ${heldFailure} else j.failure_reason end,
        finished_at = case when c.status = 'failed' then now() else j.finished_at end,
        scheduled_at = case when c.status = 'scheduled' then now() + make_interval(secs => j.start_in) end
      from unnest(${changes.map(({ job }) => job.id)}::bigint[], ${changes.map(({ status }) => status)}::text[])
        c (id, status)
      where j.id = c.id
      returning j.id, j.kind, j.status, j.scheduled_at, j.resource_group
    )
    select moved.*, case when moved.status = 'pending' then pg_notify(${jobsChannel}, '') end as told
    from moved order by moved.id`.execute(tx)
  return rows
}

/** `startedAt`: of the first job that ran. `followed`: a trigger job may want to know. */
export async function changePipeline(
  tx: Tx,
  id: number,
  state: PipelineState,
  startedAt: Date | null,
): Promise<{ followed: boolean }> {
  const { status } = state
  const finished = status === 'success' || status === 'failed' || status === 'canceled'
  const still = finished || status === 'manual' || status === 'skipped'
  const { rows } = await sql<{ followed: boolean }>`
    update ci_pipelines p set status = ${status}, has_warnings = ${state.hasWarnings},
      coverage = ${state.coverage}::double precision,
      duration = case when ${still} then ${state.duration}::integer else p.duration end,
      started_at = coalesce(p.started_at, ${startedAt}::timestamptz),
      finished_at = case when ${finished} then now() end, updated_at = now()
    where p.id = ${id}
    returning p.source_job_id is not null
      or exists (select from ci_jobs m where m.mirrors_pipeline_id = p.id) as followed`.execute(tx)
  return rows[0]!
}

export interface EndedJob {
  readonly id: number
  readonly project_id: number
  readonly status: Status
  readonly allow_failure: boolean
  readonly attempt: number
  readonly retry: Retry | null
  readonly resource_group: string | null
}

export interface JobEnd {
  readonly to: 'success' | 'failed'
  /** Of a failure. */
  readonly reason: string | null
  readonly exitCode: number | null
  readonly coverage: number | null
}

const endable = [...alive, 'manual', 'scheduled', 'canceling']

/** Ends a job that has not ended; one that was being canceled is canceled now, whatever came of it. */
export async function endJob(
  tx: Tx,
  jobId: number,
  pipelineId: number,
  { to, reason, exitCode, coverage }: JobEnd,
  from: readonly string[] = endable,
): Promise<EndedJob | undefined> {
  const { rows } = await sql<EndedJob>`
    update ci_jobs j set
      status = case when j.status = 'canceling' then 'canceled' else ${to} end,
      failure_reason = case when j.status <> 'canceling' then ${reason} end,
      exit_code = ${exitCode}, coverage = coalesce(${coverage}, j.coverage), finished_at = now(), updated_at = now(),
      allow_failure = j.allow_failure or coalesce(
        j.definition -> 'allowFailureExitCodes' @> to_jsonb(${exitCode}::integer), false)
    where j.id = ${jobId} and j.pipeline_id = ${pipelineId} and j.status = any (${[...from]}::text[])
    returning j.id, j.project_id, j.status, j.allow_failure, j.attempt, j.definition -> 'retry' as retry,
      j.resource_group`.execute(tx)
  return rows[0]
}

/**
 * New jobs in place of these, which are marked retried; in order of the old ones. What somebody has started once starts by
 * itself; what still waited for somebody, or for its time, waits again.
 */
export async function cloneJobs(
  tx: Tx,
  ids: readonly number[],
  userId: number | null,
): Promise<{ id: number; old_id: number }[]> {
  const { rows } = await sql<{ id: number; name: string }>`
    with old as (
      update ci_jobs j set retried = true, updated_at = now() where j.id = any (${[...ids]}::bigint[]) and not j.retried
      returning j.*
    )
    insert into ci_jobs (project_id, pipeline_id, kind, name, stage, stage_index, status, run_when, allow_failure,
      definition, needs, start_in, interruptible, resource_group, tag_list, timeout, artifact_access, ref, tag,
      protected, user_id, attempt, manual_variables)
    select old.project_id, old.pipeline_id, old.kind, old.name, old.stage, old.stage_index, 'created',
      case when old.run_when in ('manual', 'delayed') and old.queued_at is not null then 'on_success' else old.run_when end,
      coalesce((old.definition ->> 'allowFailure')::boolean, false), old.definition, old.needs, old.start_in,
      old.interruptible, old.resource_group, old.tag_list, (old.definition ->> 'timeout')::integer,
      old.artifact_access, old.ref, old.tag, old.protected, coalesce(${userId}, old.user_id), old.attempt + 1,
      old.manual_variables
    from old order by old.id
    returning id`.execute(tx)
  // Both are in order of id.
  const old = [...ids].sort((a, b) => a - b)
  return rows.map(({ id }, index) => ({ id, old_id: old[index]! }))
}

/** Skipped jobs wait for their turn once more: all of a pipeline, or these; what others report has no turn. */
export async function reopenSkipped(tx: Tx, pipelineId: number, ids?: readonly number[]): Promise<void> {
  await sql`
    update ci_jobs j set status = 'created', updated_at = now()
    where j.pipeline_id = ${pipelineId} and not j.retried and j.status = 'skipped' and j.kind <> 'external'
      ${ids === undefined ? sql`` : sql`and j.id = any (${[...ids]}::bigint[])`}`.execute(tx)
}

/** Cancels what can be canceled; a runner that can stop gracefully is asked to. */
export async function cancelJobs(
  tx: Tx,
  pipelineId: number,
  { ids, interruptibleOnly = false }: { ids?: readonly number[]; interruptibleOnly?: boolean } = {},
): Promise<{ id: number; status: Status; resource_group: string | null }[]> {
  const { rows } = await sql<{ id: number; status: Status; resource_group: string | null }>`
    update ci_jobs j set updated_at = now(),
      status = case when j.status = 'running' and j.cancel_gracefully then 'canceling' else 'canceled' end,
      finished_at = case when j.status = 'running' and j.cancel_gracefully then j.finished_at else now() end
    where j.pipeline_id = ${pipelineId} and not j.retried and j.status = any (${[...cancelable]}::text[])
      ${ids === undefined ? sql`` : sql`and j.id = any (${[...ids]}::bigint[])`}
      ${interruptibleOnly ? sql`and j.interruptible` : sql``}
    returning j.id, j.status, j.resource_group`.execute(tx)
  return rows
}

export interface TakenJob {
  readonly jobId: number
  readonly pipelineId: number
}

/**
 * Pipelines of which runners have just taken jobs run from now on; answers those of which this is not all that follows.
 * One statement, since it is made for each job that is given out. `announced` makes parts of a statement out of news.
 */
export async function startPipelines(
  db: Writer,
  jobs: readonly TakenJob[],
  announced: (source: RawBuilder<unknown>) => RawBuilder<unknown>,
): Promise<number[]> {
  const ids = jobs.map(({ pipelineId }) => pipelineId)
  const followed = sql`(p.deploys or p.source_job_id is not null
    or exists (select from ci_jobs m where m.mirrors_pipeline_id = p.id))`
  const { rows } = await sql<{ id: number }>`
    with begun as (
      update ci_pipelines p set status = 'running', started_at = coalesce(p.started_at, now()), updated_at = now()
      where p.id = any (${ids}::bigint[]) and p.status = 'pending' and not ${followed}
      returning p.id, p.project_id, p.user_id
    ), taken as (
      select t.pipeline_id, jsonb_agg(jsonb_build_object('id', t.id, 'status', 'running')) as jobs
      from unnest(${jobs.map(({ jobId }) => jobId)}::bigint[], ${ids}::bigint[]) t (id, pipeline_id)
      group by t.pipeline_id
    ), ${announced(sql`
      select 'pipeline' as kind, b.project_id, b.user_id,
        jsonb_build_object('pipelineId', b.id, 'status', 'running') as payload from begun b
      union all
      select 'job', p.project_id, p.user_id, jsonb_build_object('pipelineId', p.id, 'jobs', t.jobs)
      from taken t join ci_pipelines p on p.id = t.pipeline_id`)}
    select p.id from ci_pipelines p, (select count(task) from told) told
    where p.id = any (${ids}::bigint[]) and (${followed} or p.status not in ('pending', 'running'))`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}
