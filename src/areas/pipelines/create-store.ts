import type { RawBuilder } from 'kysely'
import type { CompiledJob, Status } from '../../ci/index.ts'
import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { beforeNew, sizes } from './blocks.ts'
import { jobsChannel } from './channels.ts'
import { heldFailure } from './held-failure.ts'
import { buildsMerge, type MergeRequestFacts } from './merge-request.ts'
import type { PipelineState } from './machine.ts'
import { danglingSources } from './rules.ts'

export interface NewPipelineRow {
  /** Left out: the next one. */
  readonly id?: number
  /** Whether `refs/pipelines/:id` is there, and whether jobs must not run before it is. */
  readonly persistentRef?: { readonly has: boolean; readonly needs: boolean }
  readonly projectId: number
  readonly userId: number | null
  readonly source: string
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly beforeSha: string
  readonly protected: boolean
  readonly name: string | null
  readonly yamlErrors: string | null
  readonly failureReason: string | null
  readonly eventKey: string | null
  readonly triggerId: number | null
  readonly scheduleId: number | null
  readonly mergeRequest: MergeRequestFacts | null
  readonly sourceJobId: number | null
  readonly cancelOnNewCommit: string
  readonly cancelOnJobFailure: string
  /** Some job names an environment. */
  readonly deploys: boolean
  readonly state: PipelineState
}

export interface NewVariableRow {
  readonly key: string
  readonly secret: string
  readonly variable_type: string
  readonly raw: boolean
}

export interface InsertedJob {
  readonly id: number
  readonly name: string
  readonly kind: string
  readonly status: Status
  readonly scheduled_at: string | null
}

export interface Inserted {
  readonly id: number
  readonly iid: number
  /** Older pipelines of the ref that may be superfluous now. */
  readonly older: readonly number[]
  readonly jobs: readonly InsertedJob[]
}

/** A pipeline for the same event is there already. */
export class AlreadyCreated extends Error {}

/**
 * A pipeline with a later id was quicker than one whose id was reserved. Within a project ids and numbers grow together:
 * lists are in the order of both.
 */
export class Overtaken extends Error {}

const nextId = sql`nextval(pg_get_serial_sequence('ci_pipelines', 'id'))`

/**
 * Everything of a new pipeline in one statement: the project's counter, the pipeline with the status that its jobs
 * make, its variables and jobs, and the news for runners that something waits. A trigger or schedule that was deleted
 * meanwhile is left out. Its id, like its number, is taken while the counter is held; `Overtaken` if it was before.
 */
export async function insertPipeline(
  tx: Tx,
  row: NewPipelineRow,
  variables: readonly NewVariableRow[],
  jobs: readonly { job: CompiledJob; status: Status }[],
): Promise<Inserted> {
  const listed = row.source === 'parent_pipeline' ? 0 : 1
  const { has, needs } = row.persistentRef ?? { has: false, needs: false }
  const { status } = row.state
  const finished = status === 'success' || status === 'failed' || status === 'canceled'
  const reserved = sql`${row.id ?? null}::bigint`
  const { rows } = await sql<Inserted>`
    with refs as (
      update projects pr set refs_version = pr.refs_version + 1 where pr.id = ${row.projectId} and ${has} returning pr.id
    ), counter as (
      insert into project_counters as c (project_id, kind, last_iid, last_id, live)
      select ${row.projectId}, 'pipeline', 1, coalesce(${reserved}, ${nextId}), ${listed}
      from (select count(*) from refs) raised
      on conflict (project_id, kind) do update set last_iid = c.last_iid + 1,
        last_id = coalesce(${reserved}, ${nextId}), live = c.live + excluded.live
      where ${reserved} is null or c.last_id < ${reserved}
      returning c.last_iid as iid, c.last_id as id, c.live
    ), block as (
      insert into ci_pipeline_blocks as b (project_id, size, block, live, before)
      select ${row.projectId}, size.of, counter.iid / size.of, ${listed}, ${beforeNew(listed, sql`counter.live`)}
      from counter, ${sizes}
      on conflict (project_id, size, block) do update set live = b.live + excluded.live
    ), pipeline as (
      insert into ci_pipelines (id, project_id, iid, user_id, status, source, ref, tag, sha, before_sha, protected, name,
        yaml_errors, failure_reason, event_key, has_warnings, cancel_on_new_commit, cancel_on_job_failure, trigger_id,
        schedule_id, source_job_id, merge_request_id, merge_request, source_sha, deploys, finished_at,
        has_ref, needs_ref)
      overriding system value
      select counter.id, ${row.projectId}, counter.iid, ${row.userId}, ${status}, ${row.source}, ${row.ref},
        ${row.tag}, ${row.sha}, ${row.beforeSha}, ${row.protected}, ${row.name}, ${row.yamlErrors}, ${row.failureReason}, ${row.eventKey},
        ${row.state.hasWarnings}, ${row.cancelOnNewCommit}, ${row.cancelOnJobFailure},
        (select t.id from ci_triggers t where t.id = ${row.triggerId}::bigint for key share),
        (select d.id from ci_pipeline_schedules d where d.id = ${row.scheduleId}::bigint for key share),
        ${row.sourceJobId}::bigint,
        (select m.id from merge_requests m where m.id = ${row.mergeRequest?.id ?? null}::bigint for key share),
        ${row.mergeRequest === null ? null : JSON.stringify(row.mergeRequest)}::jsonb, ${sourceSha(row)},
        ${row.deploys},
        case when ${finished} then now() end, ${has}, ${needs}
      from counter returning id, iid, project_id
    ), variable as (
      insert into ci_pipeline_variables (project_id, pipeline_id, key, secret, variable_type, raw)
      select pipeline.project_id, pipeline.id, v.key, v.secret, v.variable_type, v.raw
      from pipeline, jsonb_to_recordset(${JSON.stringify(variables)}) v
        (key text, secret text, variable_type text, raw boolean)
    ), resource_group as (
      insert into ci_resource_groups (project_id, key, process_mode)
      select pr.id, g.key, coalesce(pr.settings ->> 'resource_group_default_process_mode', 'unordered')
      from projects pr, unnest(${resourceGroups(jobs)}::text[]) g (key) where pr.id = ${row.projectId}
      on conflict (project_id, key) do nothing
    ), job as (
      insert into ci_jobs (project_id, pipeline_id, kind, name, stage, stage_index, status, run_when, allow_failure,
        definition, needs, start_in, interruptible, resource_group, tag_list, timeout, artifact_access, ref, tag,
        protected, user_id, queued_at, failure_reason, finished_at, scheduled_at)
      select pipeline.project_id, pipeline.id, n.kind, n.name, n.stage, n.stage_index, n.status, n.run_when,
        n.allow_failure, n.definition, n.needs, n.start_in, n.interruptible, n.resource_group, n.tag_list, n.timeout,
        n.artifact_access, ${row.ref}, ${row.tag}, ${row.protected}, ${row.userId},
        case when n.status = 'pending' then now() end,
        case when n.status = 'failed' then ${heldFailure} end, case when n.status = 'failed' then now() end,
        case when n.status = 'scheduled' then now() + make_interval(secs => n.start_in) end
      from pipeline, jsonb_to_recordset(${JSON.stringify(jobs.map(jobRow))}) n
        (place integer, kind text, name text, stage text, stage_index integer, status text, run_when text,
        allow_failure boolean, definition jsonb, needs text[], start_in integer, interruptible boolean,
        resource_group text, tag_list text[], timeout integer, artifact_access text)
      order by n.place
      returning id, name, kind, status, scheduled_at
    )
    select pipeline.id, pipeline.iid,
      coalesce((select json_agg(job order by job.id) from job), '[]') as jobs, ${olderAlive(row)} as older,
      ${jobs.some(({ status: to }) => to === 'pending') ? sql`pg_notify(${jobsChannel}, '')` : sql`null`} as told
    from pipeline`
    .execute(tx)
    .catch(onConstraint('ci_pipelines_event', () => new AlreadyCreated()))
  const [inserted] = rows
  if (inserted === undefined) throw new Overtaken()
  return inserted
}

function sourceSha({ mergeRequest }: NewPipelineRow): string | null {
  return mergeRequest !== null && buildsMerge(mergeRequest) ? mergeRequest.source.sha : null
}

/**
 * What a newer commit of a ref, or of a merge request, may make superfluous: the statement does not see the pipeline that
 * it makes.
 */
function olderAlive(row: NewPipelineRow): RawBuilder<unknown> {
  if (danglingSources.has(row.source)) return sql`'[]'::json`
  const alike =
    row.mergeRequest === null
      ? sql`p.ref = ${row.ref} and p.tag = ${row.tag}`
      : sql`p.merge_request_id = ${row.mergeRequest.id}`
  return sql`
    coalesce((select json_agg(o.id) from (
      select p.id from ci_pipelines p
      where p.project_id = ${row.projectId} and ${alike} and p.sha <> ${row.sha} and p.created_at > now() - interval '7 days'
        and p.source <> all (${[...danglingSources]}::text[]) and p.status in
        ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'canceling', 'manual', 'scheduled')
      order by p.id desc limit 100) o), '[]')`
}

function jobRow(
  { job, status }: { job: CompiledJob; status: Status },
  place: number,
): Record<string, unknown> {
  return {
    place,
    kind: job.bridge === null ? 'build' : 'bridge',
    name: job.name,
    stage: job.stage,
    stage_index: job.stageIndex,
    status,
    run_when: status === 'manual' ? 'manual' : job.when,
    allow_failure: job.allowFailure,
    definition: job,
    needs: job.needs?.map(({ name }) => name) ?? null,
    start_in: job.startIn,
    interruptible: job.interruptible,
    resource_group: job.resourceGroup,
    tag_list: job.tags,
    timeout: job.timeout,
    artifact_access: job.artifactAccess,
  }
}

/** In one order always, so that two pipelines of a project do not wait for one another. */
function resourceGroups(jobs: readonly { job: CompiledJob }[]): string[] {
  const names = jobs.flatMap(({ job: { resourceGroup } }) => (resourceGroup === null ? [] : [resourceGroup]))
  return [...new Set(names)].sort()
}

/** Whether an event has made its pipeline already. */
export async function hasPipelineFor(db: Reader, eventKey: string): Promise<boolean> {
  const row = await db
    .selectFrom('ci_pipelines as p')
    .select('p.id')
    .where('p.event_key', '=', eventKey)
    .executeTakeFirst()
  return row !== undefined
}

/** Pipelines that a user started for a commit within the last minute. */
export async function countRecent(
  db: Reader,
  { projectId, userId, sha }: { projectId: number; userId: number; sha: string },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ci_pipelines p
    where p.project_id = ${projectId} and p.sha = ${sha} and p.user_id = ${userId}
      and p.created_at > now() - interval '1 minute'`.execute(db)
  return rows[0]!.count
}

/** Jobs of pipelines of a project that have not ended, counted up to `most`. */
export async function countActive(db: Reader, projectId: number, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from ci_pipelines p join ci_jobs j on j.pipeline_id = p.id and not j.retried
      where p.project_id = ${projectId} and p.status in
        ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'canceling', 'manual', 'scheduled')
      limit ${most}) few`.execute(db)
  return rows[0]!.count
}
