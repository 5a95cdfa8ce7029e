import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import {
  countedPast,
  countedRows,
  rows,
  windowOf,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { runRef } from '../pipelines/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { JobRow } from './entities.ts'
import type { ShownProject } from './show.ts'

/** The pipeline that a trigger job started. */
const downstream = sql`
  case when j.kind = 'bridge' then (
    select json_build_object('id', d.id, 'iid', d.iid, 'project_id', d.project_id, 'sha', d.sha, 'ref', d.ref,
      'status', d.status, 'source', d.source, 'name', d.name, 'created_at', d.created_at,
      'updated_at', d.updated_at, 'project_path', dp.full_path)
    from ci_pipelines d join projects dp on dp.id = d.project_id where d.source_job_id = j.id limit 1) end`

/** All of a job that its JSON shows, for a job under the alias `j`. */
const columns = sql`
  j.id, j.kind, j.status, j.stage, j.name, j.ref, j.tag, j.coverage, j.allow_failure, j.created_at, j.queued_at,
  j.started_at, j.finished_at, j.erased_at, j.failure_reason, j.retried, j.debug_trace, j.run_when, j.stage_index,
  j.resource_group, j.user_id, ${runRef} as run_ref, ${basicUserJson('u')} as "user",
  json_build_object('id', p.id, 'iid', p.iid, 'project_id', p.project_id, 'sha', p.sha, 'ref', p.ref,
    'status', p.status, 'source', p.source, 'created_at', p.created_at, 'updated_at', p.updated_at) as pipeline,
  coalesce((
    select json_agg(json_build_object('file_type', a.file_type, 'size', a.size, 'filename', a.filename,
      'file_format', a.file_format, 'expire_at', a.expire_at) order by a.id)
    from ci_job_artifacts a where a.job_id = j.id), '[]') as artifacts,
  case when r.id is not null then json_build_object('id', r.id, 'description', r.description, 'paused', r.paused,
    'runner_type', r.runner_type, 'name', r.name, 'contacted_at', r.contacted_at, 'created_at', r.created_at) end
    as runner,
  case when m.id is not null then to_json(m) end as runner_manager, j.artifacts_expire_at, j.tag_list,
  ${downstream} as downstream`

const joins = sql`
  join ci_pipelines p on p.id = j.pipeline_id left join users u on u.id = j.user_id
  left join ci_runners r on r.id = j.runner_id left join ci_runner_managers m on m.id = j.runner_manager_id`

/** A job with the project that it is of, where that is not known before. */
export type PlacedJobRow = JobRow & { readonly shown_in: ShownProject }

/** The project `pr` as it is needed to show its jobs. */
const shownIn = sql`json_build_object('id', pr.id, 'storage', pr.storage, 'fullPath', pr.full_path, 'settings', pr.settings)`

/** Its runner would let somebody into it. */
const hasTerminal = sql`
  j.status = 'running' and exists (select from ci_job_sessions s where s.job_id = j.id) as has_terminal`

/** As `one`, with what is shown of a single job only. */
export function details(id: number): Read<JobRow & { readonly has_terminal: boolean }> {
  return rows(sql`
    select ${columns}, ${hasTerminal} from ci_jobs j ${joins}
    where j.id = ${id} and j.project_id = subject.id and j.kind = 'build'`)
}

/** Read together with the caller's access: `subject` is the project. */
export function one(id: number): Read<JobRow> {
  return rows(sql`
    select ${columns} from ci_jobs j ${joins} where j.id = ${id} and j.project_id = subject.id and j.kind = 'build'`)
}

/** As `one`, trigger jobs and statuses of other systems too: what people start, run again and stop. */
export function oneOfAnyKind(id: number): Read<JobRow> {
  return rows(sql`select ${columns} from ci_jobs j ${joins} where j.id = ${id} and j.project_id = subject.id`)
}

export async function find(db: Reader, id: number): Promise<JobRow | undefined> {
  const result = await sql<{ row: JobRow }>`
    select to_json(x) as row from (select ${columns} from ci_jobs j ${joins} where j.id = ${id}) x`.execute(
    db,
  )
  return result.rows[0]?.row
}

/** A `JobRow` as JSON for the job of this id; null where there is none. */
export function jobJson(id: RawBuilder<unknown>): RawBuilder<JobRow | null> {
  return sql`(select to_json(shown) from (select ${columns} from ci_jobs j ${joins} where j.id = ${id}) shown)`
}

export interface JobList {
  readonly scope: readonly string[] | undefined
  /** Keyset pages: the last id of the page before. */
  readonly before?: number | undefined
}

/** The jobs of a project, newest first; the rows of the page are joined to what their JSON shows, no others. */
export function ofProject(
  { scope, before }: JobList,
  { limit, offset }: PageInput,
  keyset: boolean,
): Read<JobRow & { has_next: boolean }> {
  const where = sql`
    from ci_jobs j where j.project_id = subject.id and j.kind = 'build' ${inScope(scope)}
      ${before === undefined ? sql`` : sql`and j.id < ${before}`}`
  return jobPage(where, sql`j.id desc`, { limit, offset }, { counts: !keyset })
}

/** Jobs that a runner was given, newest first. */
export function ofRunner(
  {
    runnerId,
    status,
    readable,
    sort = 'desc',
  }: {
    runnerId: number
    status: string | undefined
    readable: RawBuilder<unknown>
    sort?: 'asc' | 'desc' | undefined
  },
  { limit, offset }: PageInput,
): Read<PlacedJobRow> {
  const where = sql`
    from ci_jobs j where j.runner_id = ${runnerId} and ${readable} ${inScope(status === undefined ? undefined : [status])}`
  const order = sort === 'asc' ? sql`j.id` : sql`j.id desc`
  return jobPage(where, order, { limit, offset }, { counts: true, placed: true }) as Read<never>
}

function jobPage(
  where: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  { limit, offset }: { limit: number; offset: number },
  { counts, placed = false }: { counts: boolean; placed?: boolean },
): Read<JobRow & { has_next: boolean }> {
  const counted = counts ? sql`(select count(*) from (select ${where} ${countedRows}) c)` : sql`null`
  return {
    kind: 'page',
    sql: sql`(
      select json_build_object('rows', coalesce(json_agg(x), '[]'::json), 'total',
        case
          when count(*) between 1 and ${limit} or ${offset}::int = 0 and count(*) = 0 then ${offset}::int + count(*)
          else ${counted}
        end)
      from (
        select ${columns}, ${placed ? sql`${shownIn} as shown_in,` : sql``}
          lead(j.id) over (order by ${order}) is not null as has_next
        from (select w.id from (select j.id ${where} order by ${order} ${windowOf({ offset })}) w limit ${limit + 1}) page
        join ci_jobs j on j.id = page.id ${placed ? sql`join projects pr on pr.id = j.project_id` : sql``} ${joins} order by ${order}) x)`,
  }
}

/** One row where the pipeline exists; the page of its jobs in it. */
export function ofPipeline(
  pipelineId: number,
  {
    kind,
    scope,
    retried,
  }: { kind: 'build' | 'bridge'; scope: readonly string[] | undefined; retried: boolean },
  { limit, offset }: PageInput,
): Read<{ total: number; jobs: JobRow[] }> {
  const where = sql`
    from ci_jobs j where j.pipeline_id = one.id and j.kind = ${kind} ${inScope(scope)}
      ${retried ? sql`` : sql`and not j.retried`}`
  return rows(sql`
    select (select count(*) from (select ${where} ${countedPast({ limit, offset })}) c) as total, coalesce((
      select json_agg(x) from (
        select ${columns} from (select w.id from (select j.id ${where} order by j.id desc ${windowOf({ offset })}) w limit ${limit}) page
        join ci_jobs j on j.id = page.id ${joins} order by j.id desc) x), '[]') as jobs
    from ci_pipelines one where one.id = ${pipelineId} and one.project_id = subject.id`)
}

function inScope(scope: readonly string[] | undefined): RawBuilder<unknown> {
  return scope === undefined || scope.length === 0 ? sql`` : sql`and j.status = any (${[...scope]}::text[])`
}

/** The job that a job token belongs to. */
export function ofToken(): Read<PlacedJobRow> {
  return rows(sql`
    select ${columns}, ${shownIn} as shown_in
    from ci_jobs j join projects pr on pr.id = j.project_id ${joins} where j.id = actor.job_id`)
}

/** Forgets what a job left behind. The files are removed afterwards; answers their digests. */
export async function eraseJob(tx: Tx, id: number): Promise<string[]> {
  const artifacts = await sql<{ digest: string }>`
    with counted as (delete from ci_test_summaries s where s.job_id = ${id})
    delete from ci_job_artifacts a where a.job_id = ${id} returning a.digest`.execute(tx)
  await sql`
    update ci_jobs j set erased_at = now(), updated_at = now(), artifacts_expire_at = null
    where j.id = ${id}`.execute(tx)
  return artifacts.rows.map(({ digest }) => digest)
}

export async function setPlayed(
  tx: Tx,
  id: number,
  userId: number,
  manualVariables: readonly { key: string; secret: string }[],
): Promise<void> {
  await sql`
    update ci_jobs j set user_id = ${userId}, scheduled_at = null,
      manual_variables = coalesce(${manualVariables.length === 0 ? null : JSON.stringify(manualVariables)}::jsonb,
        j.manual_variables)
    where j.id = ${id}`.execute(tx)
}

export async function markDebugTrace(db: Writer, id: number): Promise<void> {
  await sql`update ci_jobs j set debug_trace = true where j.id = ${id} and not j.debug_trace`.execute(db)
}
