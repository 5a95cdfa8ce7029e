import type { RawBuilder } from 'kysely'
import { nextIid, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { jobJson } from '../jobs/index.ts'
import { basicUserJson } from '../users/index.ts'
import { approvalRulesJson } from '../protected-environments/index.ts'
import type { DeploymentDetailRow, DeploymentRow } from './entities.ts'

/** All that is shown of a deployment `d`. */
export const deploymentColumns = sql`
  d.id, d.iid, d.ref, d.sha, d.created_at, d.updated_at, d.by_job, d.status, ${basicUserJson('du')} as "user",
  json_build_object('id', de.id, 'name', de.name, 'slug', de.slug, 'external_url', de.external_url,
    'created_at', de.created_at, 'updated_at', de.updated_at) as environment,
  ${jobJson(sql`d.job_id`)} as deployable`

export const deploymentJoins = sql`
  join environments de on de.id = d.environment_id left join users du on du.id = d.user_id`

export const deploymentOrders = ['id', 'iid', 'created_at', 'updated_at', 'finished_at', 'ref'] as const
export const deploymentStatuses = [
  'created',
  'running',
  'success',
  'failed',
  'canceled',
  'skipped',
  'blocked',
] as const

export interface DeploymentFilter {
  readonly order_by: (typeof deploymentOrders)[number]
  readonly sort: 'asc' | 'desc'
  readonly updated_after?: Date | undefined
  readonly updated_before?: Date | undefined
  readonly finished_after?: Date | undefined
  readonly finished_before?: Date | undefined
  readonly environment?: string | undefined
  readonly status?: string | undefined
}

/** Read together with the caller's access: `subject` is the project. */
export function list(filter: DeploymentFilter, input: PageInput): Read<DeploymentRow> {
  const conditions: RawBuilder<unknown>[] = [sql`d.project_id = subject.id`]
  const { updated_after, updated_before, finished_after, finished_before, environment, status } = filter
  if (updated_after !== undefined) conditions.push(sql`d.updated_at > ${updated_after}`)
  if (updated_before !== undefined) conditions.push(sql`d.updated_at < ${updated_before}`)
  if (finished_after !== undefined) conditions.push(sql`d.finished_at >= ${finished_after}`)
  if (finished_before !== undefined) conditions.push(sql`d.finished_at <= ${finished_before}`)
  if (status !== undefined) conditions.push(sql`d.status = ${status}`)
  if (environment !== undefined) {
    conditions.push(sql`
      d.environment_id = (
        select x.id from environments x where x.project_id = subject.id and x.name = ${environment})`)
  }
  const direction = filter.sort === 'desc' ? sql`desc` : sql`asc`
  const orders = filter.order_by === 'id' ? [] : [sql`${sql.ref(`d.${filter.order_by}`)} ${direction}`]
  return page(
    {
      columns: deploymentColumns,
      from: sql`from deployments d ${deploymentJoins} where ${sql.join(conditions, sql` and `)}`,
      order: sql.join([...orders, sql`d.id ${direction}`]),
    },
    input,
  )
}

/** With its approvals. */
const detailColumns = sql`
  ${deploymentColumns}, case when d.status = 'blocked' then pending_approvals(d.environment_id, d.id) else 0 end as pending,
  coalesce((
    select json_agg(json_build_object('id', a.id, 'user', ${basicUserJson('au')}, 'status', a.status,
      'comment', a.comment, 'created_at', a.created_at) order by a.id)
    from deployment_approvals a left join users au on au.id = a.user_id where a.deployment_id = d.id), '[]') as approvals,
  ${approvalRulesJson} as approval_rules`

export function one(id: number): Read<DeploymentDetailRow> {
  return rows(sql`
    select ${detailColumns} from deployments d ${deploymentJoins}
    where d.id = ${id} and d.project_id = subject.id`)
}

export async function find(db: Reader, id: number): Promise<DeploymentDetailRow> {
  const { rows: found } = await sql<{ row: DeploymentDetailRow }>`
    select to_json(x) as row from (
      select ${detailColumns} from deployments d ${deploymentJoins} where d.id = ${id}) x`.execute(db)
  return found[0]!.row
}

export interface NewDeployment {
  readonly projectId: number
  readonly environmentId: number
  readonly userId: number
  readonly status: string
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
}

const ended = sql`('success', 'failed', 'canceled', 'skipped')`

export async function create(tx: Tx, values: NewDeployment): Promise<number> {
  const { rows: made } = await sql<{ id: number }>`
    with counter as (${nextIid({ projectId: values.projectId }, 'deployment')})
    insert into deployments (project_id, iid, environment_id, by_job, user_id, status, ref, tag, sha, finished_at)
    select ${values.projectId}, counter.iid, ${values.environmentId}, false, ${values.userId}, ${values.status},
      ${values.ref}, ${values.tag}, ${values.sha}, case when ${values.status} in ${ended} then now() end
    from counter returning id`.execute(tx)
  return made[0]!.id
}

export async function setStatus(db: Writer, id: number, status: string): Promise<void> {
  await sql`
    update deployments d set status = ${status}, updated_at = now(),
      finished_at = case when ${status} in ${ended} then coalesce(d.finished_at, now()) end
    where d.id = ${id}`.execute(db)
}

export async function isLast(db: Reader, id: number): Promise<boolean> {
  const { rows: found } = await sql<{ last: boolean }>`
    select d.status = 'success' and not exists (
      select from deployments o
      where o.environment_id = d.environment_id and o.status = 'success' and o.id > d.id) as last
    from deployments d where d.id = ${id}`.execute(db)
  return found[0]?.last ?? false
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from deployments d where d.id = ${id}`.execute(db)
}

/** Whether deployments may have to be approved at all. */
interface Asking {
  readonly approvals: boolean
}

/** What a deployment is while its job is in some status. `pending`: approvals that it waits for. */
function statusOf(job: RawBuilder<unknown>, pending: RawBuilder<unknown>): RawBuilder<string> {
  return sql`case
    when ${job} in ('running', 'canceling') then 'running'
    when ${job} in ('success', 'failed', 'canceled', 'skipped') then ${job}
    when ${job} = 'manual' and ${pending} > 0 then 'blocked'
    else 'created' end`
}

/** A deployment for each latest job of the pipeline that deploys and has none yet. */
export async function addMissing(
  tx: Tx,
  { projectId, pipelineId }: { readonly projectId: number; readonly pipelineId: number },
  { approvals }: Asking,
): Promise<void> {
  const pending = approvals ? sql`pending_approvals(fresh.environment_id, null)` : sql`0`
  await sql`
    with fresh as (
      select j.id, j.user_id, j.ref, j.tag, j.status, p.sha, e.id as environment_id,
        j.definition #>> '{environment,onStop}' as on_stop, row_number() over (order by j.id) as place
      from ci_jobs j join ci_pipelines p on p.id = j.pipeline_id
      join environments e on e.project_id = j.project_id and e.name = j.definition #>> '{environment,expandedName}'
      where j.pipeline_id = ${pipelineId} and not j.retried and j.kind = 'build'
        and j.definition #>> '{environment,action}' = 'start'
        and not exists (select from deployments d where d.job_id = j.id)
    ), wanted as (select count(*) as number from fresh having count(*) > 0),
    counter as (
      insert into project_counters as c (project_id, kind, last_iid)
      select ${projectId}, 'deployment', wanted.number from wanted
      on conflict (project_id, kind) do update set last_iid = c.last_iid + excluded.last_iid
      returning c.last_iid
    )
    insert into deployments (project_id, iid, environment_id, job_id, by_job, user_id, status, ref, tag, sha, on_stop,
      finished_at)
    select ${projectId}, counter.last_iid - wanted.number + fresh.place, fresh.environment_id, fresh.id, true,
      fresh.user_id, ${statusOf(sql`fresh.status`, pending)}, fresh.ref, fresh.tag, fresh.sha, fresh.on_stop,
      case when fresh.status in ${ended} then now() end
    from fresh, wanted, counter`.execute(tx)
}

/**
 * Brings the deployments of a pipeline to what their jobs are. Answers the jobs, of those and of `changed`, after whose
 * success the environment is another one.
 */
export async function follow(
  tx: Tx,
  pipelineId: number,
  changed: readonly number[],
  { approvals }: Asking,
): Promise<number[]> {
  const pending = approvals ? sql`pending_approvals(o.environment_id, o.id)` : sql`0`
  const { rows: found } = await sql<{ id: number }>`
    with wanted as (
      select j.id, ${statusOf(sql`j.status`, pending)} as status
      from ci_jobs j join deployments o on o.job_id = j.id where j.pipeline_id = ${pipelineId}
    ), moved as (
      update deployments d set status = w.status, updated_at = now(),
        finished_at = case when w.status in ${ended} then now() end
      from wanted w where d.job_id = w.id and d.status <> w.status
      returning d.job_id, d.status
    )
    select m.job_id as id from moved m where m.status = 'success'
    union all
    select j.id from ci_jobs j
    where j.id = any (${[...changed]}::bigint[]) and j.status = 'success'
      and j.definition #>> '{environment,action}' in ('stop', 'prepare', 'access')`.execute(tx)
  return found.map(({ id }) => id)
}

export interface EndedDeployment {
  readonly job_id: number
  readonly action: string
  readonly tier: string | null
  readonly auto_stop_in: string | null
  readonly url: string | null
  readonly environment_id: number
  readonly deployment_id: number | null
  /** Digest of the variables that the job has reported. */
  readonly dotenv: string | null
}

/** A job that has gone well, with its environment. */
export async function findEnded(db: Reader, jobId: number): Promise<EndedDeployment | undefined> {
  const { rows: found } = await sql<EndedDeployment>`
    select j.id as job_id, j.definition #>> '{environment,action}' as action,
      j.definition #>> '{environment,deploymentTier}' as tier,
      coalesce(j.environment_stop_in, j.definition #>> '{environment,autoStopIn}') as auto_stop_in,
      j.environment_url as url,
      e.id as environment_id, d.id as deployment_id, a.digest as dotenv
    from ci_jobs j
    join environments e on e.project_id = j.project_id and e.name = j.definition #>> '{environment,expandedName}'
    left join deployments d on d.job_id = j.id
    left join ci_job_artifacts a on a.job_id = j.id and a.file_type = 'dotenv'
    where j.id = ${jobId} and j.status = 'success'`.execute(db)
  return found[0]
}
