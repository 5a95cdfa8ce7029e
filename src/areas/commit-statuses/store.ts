import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { basicUserJson } from '../users/index.ts'
import type { StatusRow } from './entities.ts'
import type { Open, State } from './rules.ts'

const columns = sql`
  j.id, j.kind, p.sha, j.ref, j.status, j.name, j.target_url, j.description, j.created_at, j.started_at,
  j.finished_at, j.allow_failure, j.coverage, j.pipeline_id, ${basicUserJson('u')} as author`
const from = sql`
  from ci_pipelines p join ci_jobs j on j.pipeline_id = p.id left join users u on u.id = j.user_id`

export interface Filter {
  readonly sha: string
  readonly ref?: string | undefined
  readonly stage?: string | undefined
  readonly name?: string | undefined
  readonly pipelineId?: number | undefined
  /** Also those that a later report or run of the same name has replaced. */
  readonly all: boolean
}

const orders = {
  id: { asc: sql`j.id`, desc: sql`j.id desc` },
  pipeline_id: { asc: sql`j.pipeline_id, j.id`, desc: sql`j.pipeline_id desc, j.id desc` },
} as const

/** One page of the statuses of a commit, and how many there are. */
export async function list(
  db: Reader,
  projectId: number,
  filter: Filter,
  { by, sort }: { by: keyof typeof orders; sort: 'asc' | 'desc' },
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: StatusRow[]; total: number }> {
  const only = (column: string, value: string | number | undefined) =>
    value === undefined ? sql`` : sql`and ${sql.ref(column)} = ${value}`
  const conditions = sql`
    where p.project_id = ${projectId} and p.sha = ${filter.sha} and p.source <> 'parent_pipeline'
      ${only('j.ref', filter.ref)} ${only('j.stage', filter.stage)} ${only('j.name', filter.name)}
      ${only('p.id', filter.pipelineId)} ${filter.all ? sql`` : sql`and not j.retried`}`
  const { rows } = await sql<{ rows: StatusRow[]; total: number }>`
    select (select count(*) ${from} ${conditions}) as total, coalesce((
      select json_agg(r) from (
        select ${columns} ${from} ${conditions} order by ${orders[by][sort]} limit ${limit} offset ${offset}) r), '[]')
      as rows`.execute(db)
  return rows[0]!
}

export async function find(db: Reader, id: number): Promise<StatusRow> {
  const { rows } = await sql<StatusRow>`select ${columns} ${from} where j.id = ${id}`.execute(db)
  return rows[0]!
}

/** The pipeline of this id, where it is one of the commit; undefined for others. */
export async function pipelineOf(
  db: Reader,
  projectId: number,
  sha: string,
  id: number,
): Promise<{ id: number; ref: string; tag: boolean } | undefined> {
  return db
    .selectFrom('ci_pipelines as p')
    .select(['p.id', 'p.ref', 'p.tag'])
    .where('p.id', '=', id)
    .where('p.project_id', '=', projectId)
    .where('p.sha', '=', sha)
    .executeTakeFirst()
}

/** What the newest pipeline of the commit is of. */
export async function newestRefOf(db: Reader, projectId: number, sha: string): Promise<string | undefined> {
  const { rows } = await sql<{ ref: string }>`
    select p.ref from ci_pipelines p
    where p.project_id = ${projectId} and p.sha = ${sha} and p.source <> 'parent_pipeline'
    order by p.iid desc limit 1`.execute(db)
  return rows[0]?.ref
}

/** The report of this name that is not done yet. The pipeline's row is locked. */
export async function findOpen(
  tx: Tx,
  pipelineId: number,
  name: string,
): Promise<{ id: number; status: Open } | undefined> {
  const { rows } = await sql<{ id: number; status: Open }>`
    select j.id, j.status from ci_jobs j
    where j.pipeline_id = ${pipelineId} and j.kind = 'external' and j.name = ${name} and not j.retried
      and j.status in ('pending', 'running')
    order by j.id desc limit 1 for update`.execute(tx)
  return rows[0]
}

export interface Report {
  readonly state: State
  readonly targetUrl: string | undefined
  readonly description: string | undefined
  readonly coverage: number | undefined
}

const isDone = (state: State): boolean => state !== 'pending' && state !== 'running'

/** A first report, which takes the place of those of the same name that are done. */
export async function insert(
  tx: Tx,
  at: {
    projectId: number
    pipelineId: number
    userId: number | null
    name: string
    ref: string
    tag: boolean
    protected: boolean
  },
  { state, targetUrl, description, coverage }: Report,
): Promise<number> {
  await sql`
    update ci_jobs j set retried = true, updated_at = now()
    where j.pipeline_id = ${at.pipelineId} and j.kind = 'external' and j.name = ${at.name} and not j.retried`.execute(
    tx,
  )
  const { rows } = await sql<{ id: number }>`
    insert into ci_jobs (project_id, pipeline_id, kind, name, stage, stage_index, status, definition, ref, tag,
      protected, user_id, target_url, description, coverage, failure_reason, queued_at, started_at, finished_at)
    values (${at.projectId}, ${at.pipelineId}, 'external', ${at.name}, 'external', 1000000, ${state}, '{}', ${at.ref},
      ${at.tag}, ${at.protected}, ${at.userId}, ${targetUrl ?? null}, ${description ?? null},
      ${coverage ?? null}::double precision, ${state === 'failed' ? 'api_failure' : null}, now(),
      case when ${state === 'running'} then now() end, case when ${isDone(state)} then now() end)
    returning id`.execute(tx)
  return rows[0]!.id
}

/** A further report. What it does not say stays as it was. */
export async function update(
  tx: Tx,
  id: number,
  { state, targetUrl, description, coverage }: Report,
): Promise<void> {
  await sql`
    update ci_jobs j set status = ${state}, updated_at = now(),
      target_url = coalesce(${targetUrl ?? null}, j.target_url),
      description = coalesce(${description ?? null}, j.description),
      coverage = coalesce(${coverage ?? null}::double precision, j.coverage),
      failure_reason = ${state === 'failed' ? 'api_failure' : null},
      started_at = case when ${state === 'running'} then now() else j.started_at end,
      finished_at = case when ${isDone(state)} then now() end
    where j.id = ${id}`.execute(tx)
}
