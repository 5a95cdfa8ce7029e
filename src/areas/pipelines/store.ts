import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { basicUserJson } from '../users/index.ts'
import { uncount } from './blocks.ts'
import type { PipelineRow, PipelineSummaryRow } from './entities.ts'

export const summaryNames = [
  'id',
  'iid',
  'project_id',
  'sha',
  'ref',
  'status',
  'source',
  'name',
  'created_at',
  'updated_at',
] as const
export const summaryColumns = sql.join(summaryNames.map((name) => sql.ref(`p.${name}`)))

/** The commit of the pipeline `name` that somebody pushed: where `sha` is a merge that only the service sees, its source. */
export const pushedSha = (name: string): RawBuilder<unknown> =>
  sql`coalesce(${sql.ref(`${name}.source_sha`)}, ${sql.ref(`${name}.sha`)})`

/** Whose rules decide who may run the pipeline `p`: its ref, or the branch that is to be merged. */
export const runRef = sql`
  case when (p.merge_request #>> '{source,project,id}')::bigint = p.project_id
    then p.merge_request #>> '{source,branch}' else p.ref end`

/** Of a pipeline `p` that user `u` started. */
export const detailColumns = sql`
  ${summaryColumns}, p.user_id, p.before_sha, p.tag, p.yaml_errors, p.has_warnings, p.coverage, p.duration,
  p.started_at, p.finished_at, ${runRef} as run_ref, ${basicUserJson('u')} as "user"`

const detailed = sql`select ${detailColumns} from ci_pipelines p left join users u on u.id = p.user_id`

/** Read together with the caller's access: `subject` is the project. */
export function one(id: number): Read<PipelineRow> {
  return rows(sql`${detailed} where p.id = ${id} and p.project_id = subject.id`)
}

/** As it is now, after something was done to it. */
export async function find(db: Reader, id: number): Promise<PipelineRow | undefined> {
  const result = await sql<{
    row: PipelineRow
  }>`select to_json(r) as row from (${detailed} where p.id = ${id}) r`.execute(db)
  return result.rows[0]?.row
}

/** The newest pipeline of a commit on a ref that counts for "latest". */
export async function latestOf(
  db: Reader,
  projectId: number,
  ref: { name: string; tag: boolean; sha: string },
  dangling: readonly string[],
): Promise<PipelineRow | undefined> {
  const result = await sql<{ row: PipelineRow }>`
    select to_json(r) as row from (
      ${detailed} where p.project_id = ${projectId} and p.sha = ${ref.sha} and p.ref = ${ref.name}
        and p.tag = ${ref.tag} and p.source <> 'parent_pipeline' and p.source <> all (${[...dangling]}::text[])
      order by p.iid desc limit 1) r`.execute(db)
  return result.rows[0]?.row
}

/** The newest pipeline of each of these refs, newest first. */
export async function newestOf(
  db: Reader,
  projectId: number,
  names: readonly string[],
  { tag, conditions, order }: { tag: boolean; conditions: RawBuilder<unknown>; order: RawBuilder<unknown> },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: PipelineSummaryRow[]; total: number }> {
  const result = await sql<{ rows: PipelineSummaryRow[]; total: number }>`
    with newest as materialized (
      select p.* from unnest(${[...names]}::text[]) ref (name) cross join lateral (
        select n.* from ci_pipelines n
        where n.project_id = ${projectId} and n.ref = ref.name and n.source <> 'parent_pipeline' and n.tag = ${tag}
        order by n.iid desc limit 1) p
      where ${conditions})
    select (select count(*) from newest) as total, coalesce(json_agg(r), '[]') as rows from (
      select ${summaryColumns} from newest p order by ${order} limit ${limit} offset ${offset}) r`.execute(db)
  return result.rows[0]!
}

export interface StoredPipelineVariable {
  readonly key: string
  readonly secret: string
  readonly variable_type: string
  readonly raw: boolean
}

/** One row for the pipeline; its variables in it. */
export function withVariables(
  id: number,
): Read<{ user_id: number | null; variables: StoredPipelineVariable[] }> {
  return rows(sql`
    select p.user_id, coalesce((
      select json_agg(json_build_object('key', v.key, 'secret', v.secret, 'variable_type', v.variable_type,
        'raw', v.raw) order by v.id)
      from ci_pipeline_variables v where v.pipeline_id = p.id and p.source <> 'schedule'), '[]') as variables
    from ci_pipelines p where p.id = ${id} and p.project_id = subject.id`)
}

/** Writes the project's counter as well: lists by name tell by it that they are as they were. */
export async function rename(db: Writer, id: number, name: string): Promise<void> {
  await sql`
    with counter as (
      update project_counters c set live = c.live from ci_pipelines p
      where p.id = ${id} and c.project_id = p.project_id and c.kind = 'pipeline' returning p.id)
    update ci_pipelines p set name = ${name}, updated_at = now() from counter where p.id = counter.id`.execute(
    db,
  )
}

/** Removes a pipeline and what hangs on it; answers what is to be removed of its jobs: logs, and content by digest. */
export async function remove(tx: Tx, id: number): Promise<{ jobs: number[]; digests: string[] }> {
  // The counter is locked first: the next statement sees every block that there is.
  const { rows: files } = await sql<{ jobs: number[]; digests: string[] }>`
    with counter as materialized (
      select from project_counters c join ci_pipelines p on p.project_id = c.project_id
      where p.id = ${id} and c.kind = 'pipeline' for update of c)
    select coalesce(json_agg(distinct j.id) filter (where j.id is not null), '[]') as jobs,
      coalesce(array_agg(distinct a.digest) filter (where a.digest is not null), '{}') as digests
    from (select count(*) from counter) locked
    left join ci_jobs j on j.pipeline_id = ${id} left join ci_job_artifacts a on a.job_id = j.id`.execute(tx)
  await sql`
    with gone as (
      delete from ci_pipelines p where p.id = ${id}
      returning p.project_id, p.iid, case p.source when 'parent_pipeline' then 0 else 1 end as listed),
    counter as (
      update project_counters c set live = c.live - gone.listed from gone
      where c.project_id = gone.project_id and c.kind = 'pipeline')
    ${uncount(sql`gone`)}`.execute(tx)
  return files[0]!
}
