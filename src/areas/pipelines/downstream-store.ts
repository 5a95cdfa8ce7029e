import { alive, cancelable, type CompiledJob, type Status } from '../../ci/index.ts'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { Ancestor } from './downstream-rules.ts'
import type { MergeRequestFacts } from './merge-request.ts'
import type { Upstream } from './predefined.ts'
import type { MovedJob } from './process-store.ts'

/** A trigger job that is to start its pipeline. */
export interface BridgeRow {
  readonly id: number
  readonly name: string
  readonly status: string
  readonly project_id: number
  readonly user_id: number | null
  readonly ref: string
  readonly tag: boolean
  readonly protected: boolean
  readonly definition: CompiledJob
  readonly pipeline: {
    readonly id: number
    readonly iid: number
    readonly sha: string
    readonly before_sha: string
    readonly source: string
    readonly upstream: Upstream | null
    readonly merge_request: MergeRequestFacts | null
  }
  readonly variables: readonly SealedRow[]
  /** Digests of the variables that jobs before it have reported. */
  readonly dotenv: readonly string[]
  /** The pipeline that it started already. */
  readonly downstream_id: number | null
  readonly mirrors_pipeline_id: number | null
}

export interface SealedRow {
  readonly key: string
  readonly secret: string
  readonly variable_type: 'env_var' | 'file'
  readonly raw: boolean
}

export async function findBridge(db: Reader, id: number): Promise<BridgeRow | undefined> {
  const { rows } = await sql<{ bridge: BridgeRow }>`
    select to_json(x) as bridge from (
      select j.id, j.name, j.status, j.project_id, j.user_id, j.ref, j.tag, j.protected, j.definition,
        j.mirrors_pipeline_id,
        json_build_object('id', p.id, 'iid', p.iid, 'sha', p.sha, 'before_sha', p.before_sha, 'source', p.source,
          'merge_request', p.merge_request, 'upstream', case when s.id is not null then
            json_build_object('job_id', s.id, 'pipeline_id', s.pipeline_id, 'project_id', s.project_id) end)
          as pipeline,
        coalesce((
          select json_agg(json_build_object('key', v.key, 'secret', v.secret, 'variable_type', v.variable_type,
            'raw', v.raw) order by v.id)
          from ci_pipeline_variables v where v.pipeline_id = p.id), '[]') as variables,
        coalesce((
          select json_agg(a.digest order by b.stage_index, b.id)
          from ci_jobs b join ci_job_artifacts a on a.job_id = b.id and a.file_type = 'dotenv'
          where b.pipeline_id = j.pipeline_id and not b.retried and b.status in ('success', 'failed')
            and case when j.needs is null then b.stage_index < j.stage_index
              else j.definition -> 'needs' @> jsonb_build_array(jsonb_build_object('name', b.name, 'artifacts', true)) end),
          '[]') as dotenv,
        (select d.id from ci_pipelines d where d.source_job_id = j.id limit 1) as downstream_id
      from ci_jobs j join ci_pipelines p on p.id = j.pipeline_id left join ci_jobs s on s.id = p.source_job_id
      where j.id = ${id} and j.kind = 'bridge' and j.status in ('pending', 'running')) x`.execute(db)
  return rows[0]?.bridge
}

/** The pipeline and those that led to it, nearest first, and how many have come of the first of them all. */
export async function hierarchyOf(
  db: Reader,
  pipelineId: number,
  /** No more are looked at. */
  largestTree: number,
): Promise<{ ancestry: Ancestor[]; size: number }> {
  const { rows } = await sql<{ ancestry: Ancestor[]; size: number }>`
    with recursive up as (
      select p.id, p.project_id, p.ref, p.source, p.source_job_id, 0 as level
      from ci_pipelines p where p.id = ${pipelineId}
      union all
      select a.id, a.project_id, a.ref, a.source, a.source_job_id, up.level + 1
      from up join ci_jobs j on j.id = up.source_job_id join ci_pipelines a on a.id = j.pipeline_id
      where up.level < ${largestTree}
    ), down as (
      select (select up.id from up order by up.level desc limit 1) as id
      union all
      select d.id from down join ci_jobs j on j.pipeline_id = down.id join ci_pipelines d on d.source_job_id = j.id
    )
    select (select json_agg(json_build_object('id', up.id, 'project_id', up.project_id, 'ref', up.ref,
        'source', up.source) order by up.level) from up) as ancestry,
      (select count(*)::int from (select from down limit ${largestTree}) few) as size`.execute(db)
  return rows[0]!
}

/** Pipelines that trigger jobs of a user have started for a commit within the last minute. */
export async function countRecentDownstream(
  db: Reader,
  { projectId, userId, sha }: { projectId: number; userId: number; sha: string },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from ci_pipelines u
    join ci_jobs b on b.pipeline_id = u.id and b.kind = 'bridge'
    join ci_pipelines d on d.source_job_id = b.id
    where u.project_id = ${projectId} and u.sha = ${sha} and d.user_id = ${userId}
      and d.created_at > now() - interval '1 minute'`.execute(db)
  return rows[0]!.count
}

/** The newest pipeline of a branch. */
export async function newestOn(db: Reader, projectId: number, branch: string): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select p.id from ci_pipelines p
    where p.project_id = ${projectId} and p.ref = ${branch} and not p.tag and p.source <> 'parent_pipeline'
    order by p.iid desc limit 1`.execute(db)
  return rows[0]?.id
}

/** Trigger jobs that a pipeline's status matters to. */
export async function followersOf(
  db: Reader,
  pipelineId: number,
): Promise<{ id: number; pipeline_id: number }[]> {
  const { rows } = await sql<{ id: number; pipeline_id: number }>`
    select j.id, j.pipeline_id from ci_pipelines p join ci_jobs j on j.id = p.source_job_id
    where p.id = ${pipelineId} and j.kind = 'bridge' and not j.retried
      and j.definition -> 'bridge' ->> 'strategy' is not null
    union
    select j.id, j.pipeline_id from ci_jobs j where j.mirrors_pipeline_id = ${pipelineId} and not j.retried`.execute(
    db,
  )
  return rows
}

export interface Followed {
  readonly id: number
  readonly name: string
  readonly stage_index: number
  readonly status: Status
  readonly allow_failure: boolean
  readonly strategy: 'depend' | 'mirror' | null
  /** Of the pipeline that it follows; null: that is gone. */
  readonly followed: Status | null
}

/** A trigger job with the status of what it follows, as both are now; the job's pipeline is locked. */
export async function followed(tx: Tx, id: number): Promise<Followed | undefined> {
  const { rows } = await sql<Followed>`
    select j.id, j.name, j.stage_index, j.status, j.allow_failure,
      case when j.mirrors_pipeline_id is not null then 'mirror' else j.definition -> 'bridge' ->> 'strategy' end
        as strategy,
      (select p.status from ci_pipelines p where p.id = j.mirrors_pipeline_id or p.source_job_id = j.id limit 1)
        as followed
    from ci_jobs j where j.id = ${id} and j.kind = 'bridge' and not j.retried`.execute(tx)
  return rows[0]
}

export async function statusOf(tx: Tx, id: number): Promise<string> {
  const { status } = await tx
    .selectFrom('ci_jobs as j')
    .select('j.status')
    .where('j.id', '=', id)
    .executeTakeFirstOrThrow()
  return status
}

/** A trigger job in another status, with the times that go with it. */
export async function setBridge(
  tx: Tx,
  id: number,
  status: Status,
  { reason = null, mirrors = null }: { reason?: string | null; mirrors?: number | null } = {},
): Promise<MovedJob[]> {
  const { rows } = await sql<MovedJob>`
    update ci_jobs j set status = ${status}, updated_at = now(), failure_reason = ${reason},
      started_at = coalesce(j.started_at, case when ${status} <> 'skipped' then now() end),
      finished_at = case when ${status} in ('success', 'failed', 'canceled') then now() end,
      mirrors_pipeline_id = coalesce(${mirrors}::bigint, j.mirrors_pipeline_id)
    where j.id = ${id} returning j.id, j.kind, j.status, j.scheduled_at, j.resource_group`.execute(tx)
  return rows
}

/** Why a trigger job's pipeline is not there, in words. */
export async function noteMessage(db: Tx | Reader, id: number, message: string): Promise<void> {
  await sql`update ci_jobs j set failure_message = ${message} where j.id = ${id}`.execute(db)
}

/** Child pipelines that go on while their parent does not: of these trigger jobs, or of all. */
export async function livingChildren(
  tx: Tx,
  pipelineId: number,
  bridges?: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select c.id from ci_jobs j join ci_pipelines c on c.source_job_id = j.id
    where j.pipeline_id = ${pipelineId} and j.kind = 'bridge' and c.source = 'parent_pipeline'
      and c.status = any (${[...new Set([...alive, ...cancelable, 'canceling'])]}::text[])
      ${bridges === undefined ? sql`` : sql`and j.id = any (${[...bridges]}::bigint[])`}`.execute(tx)
  return rows.map(({ id }) => id)
}
