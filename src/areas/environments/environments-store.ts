import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import { subjectProject } from '../projects/index.ts'
import { deploymentColumns, deploymentJoins } from './deployments-store.ts'
import type { BasicEnvironmentRow, DeploymentRow, EnvironmentRow, WithProject } from './entities.ts'

const columns = sql`
  e.id, e.project_id, e.name, e.slug, e.external_url, e.created_at, e.updated_at, e.tier, e.state, e.auto_stop_at,
  e.auto_stop_setting, e.description`

export interface EnvironmentFilter {
  readonly name: string | undefined
  /** The beginning of a name, in any letter case. */
  readonly search: string | undefined
  readonly states: string | undefined
}

/** Read together with the caller's access: `subject` is the project. */
export function list(
  { name, search, states }: EnvironmentFilter,
  input: PageInput,
): Read<EnvironmentRow & WithProject> {
  const conditions: RawBuilder<unknown>[] = [sql`e.project_id = subject.id`]
  if (name !== undefined) conditions.push(sql`e.name = ${name}`)
  if (search !== undefined) {
    const prefix = search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')
    conditions.push(sql`lower(e.name) like ${`${prefix}%`}`)
  }
  if (states !== undefined) conditions.push(sql`e.state = ${states}`)
  return page(
    {
      columns: sql`${columns}, ${subjectProject} as project`,
      from: sql`from environments e where ${sql.join(conditions, sql` and `)}`,
      order: sql`e.id`,
    },
    input,
  )
}

/** With the newest deployment that went well. */
export function one(
  id: number,
): Read<EnvironmentRow & WithProject & { last_deployment: DeploymentRow | null }> {
  return rows(sql`
    select ${columns}, ${subjectProject} as project, (
      select to_json(x) from (
        select ${deploymentColumns} from deployments d ${deploymentJoins}
        where d.environment_id = one.id and d.status = 'success' order by d.id desc limit 1) x) as last_deployment
    from environments e, lateral (select e.id) one where e.id = ${id} and e.project_id = subject.id`)
}

/** Of an environment that is not there yet. */
export function ofProject(): Read<WithProject> {
  return rows(sql`select ${subjectProject} as project`)
}

export async function find(db: Reader, id: number): Promise<EnvironmentRow | undefined> {
  const { rows: found } =
    await sql<EnvironmentRow>`select ${columns} from environments e where e.id = ${id}`.execute(db)
  return found[0]
}

export interface NewEnvironment {
  readonly name: string
  readonly slug: string
  readonly tier: string
  readonly external_url?: string | null
  readonly description?: string | null
  readonly auto_stop_setting?: string
}

export async function create(db: Writer, projectId: number, values: NewEnvironment): Promise<EnvironmentRow> {
  const { rows: made } = await sql<EnvironmentRow>`
    insert into environments as e (project_id, name, slug, tier, external_url, description, auto_stop_setting)
    values (${projectId}, ${values.name}, ${values.slug}, ${values.tier}, ${values.external_url ?? null},
      ${values.description ?? null}, ${values.auto_stop_setting ?? 'always'})
    returning ${columns}`
    .execute(db)
    .catch(onConstraint('environments_name', () => invalid({ name: ['has already been taken'] })))
  return made[0]!
}

/** Those that are not there yet. */
export async function ensure(tx: Tx, projectId: number, values: readonly NewEnvironment[]): Promise<void> {
  // Always in one order, so that two pipelines of a project do not wait for one another.
  const sorted = [...values].sort((a, b) => (a.name < b.name ? -1 : 1))
  await sql`
    insert into environments (project_id, name, slug, tier)
    select ${projectId}, n.name, n.slug, n.tier
    from jsonb_to_recordset(${JSON.stringify(sorted)}) n (name text, slug text, tier text)
    on conflict (project_id, name) do nothing`.execute(tx)
}

export async function idOf(db: Reader, projectId: number, name: string): Promise<number> {
  const row = await db
    .selectFrom('environments as e')
    .select('e.id')
    .where('e.project_id', '=', projectId)
    .where('e.name', '=', name)
    .executeTakeFirstOrThrow()
  return row.id
}

export interface EnvironmentChange {
  readonly external_url?: string | null | undefined
  readonly tier?: string | undefined
  readonly description?: string | null | undefined
  readonly auto_stop_setting?: string | undefined
}

export async function change(db: Writer, id: number, values: EnvironmentChange): Promise<EnvironmentRow> {
  const set = Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [sql`${sql.ref(key)} = ${value}`],
  )
  const { rows: changed } = await sql<EnvironmentRow>`
    update environments e set ${sql.join([...set, sql`updated_at = now()`])} where e.id = ${id}
    returning ${columns}`.execute(db)
  return changed[0]!
}

/** What is known of an environment that is gone. */
export interface Gone {
  readonly project: number
  readonly slug: string
}

const gone = sql`returning e.project_id as project, e.slug`

/** Removes one that is stopped; undefined where it is not. */
export async function remove(tx: Tx, id: number): Promise<Gone | undefined> {
  const { rows: removed } = await sql<Gone>`
    delete from environments e where e.id = ${id} and e.state = 'stopped' ${gone}`.execute(tx)
  return removed[0]
}

export async function setState(db: Writer, id: number, state: EnvironmentRow['state']): Promise<void> {
  await sql`
    update environments e set state = ${state}, auto_stop_at = null, updated_at = now()
    where e.id = ${id} and e.state <> ${state}`.execute(db)
}

export interface DeployedFacts {
  /** Null: as it was. */
  readonly url: string | null
  readonly tier: string | null
  /** Seconds; null: not by itself. */
  readonly stopIn: number | null
}

/** A job that deploys has gone well. Not where a newer one has. */
export async function deployed(
  tx: Tx,
  id: number,
  deploymentId: number,
  { url, tier, stopIn }: DeployedFacts,
): Promise<void> {
  await sql`
    update environments e set state = 'available', external_url = coalesce(${url}, e.external_url),
      tier = coalesce(${tier}, e.tier), auto_delete_at = null, updated_at = now(),
      auto_stop_at = now() + make_interval(secs => ${stopIn}::double precision)
    where e.id = ${id} and not exists (
      select from deployments d where d.environment_id = e.id and d.status = 'success' and d.id > ${deploymentId})`.execute(
    tx,
  )
}

/** An environment that is in use lives longer. */
export async function prolong(tx: Tx, id: number, stopIn: number): Promise<void> {
  await sql`
    update environments e set auto_stop_at = now() + make_interval(secs => ${stopIn}::double precision)
    where e.id = ${id} and e.state = 'available'`.execute(tx)
}

/** The job that stops it has gone well; not where something was deployed meanwhile. */
export async function stopped(tx: Tx, id: number, jobId: number): Promise<void> {
  await sql`
    update environments e set state = 'stopped', auto_stop_at = null, updated_at = now()
    where e.id = ${id} and e.state <> 'stopped' and not exists (
      select from deployments d join ci_jobs j on j.id = ${jobId}
      where d.environment_id = e.id and d.status = 'success' and d.finished_at > j.finished_at)`.execute(tx)
}

/** Ids of those whose time has come. */
export async function dueToStop(db: Reader): Promise<number[]> {
  const { rows: due } = await sql<{ id: number }>`
    select e.id from environments e
    where e.auto_stop_at <= now() and e.state = 'available' order by e.auto_stop_at limit 100`.execute(db)
  return due.map(({ id }) => id)
}

/** Not to be ended by itself after all. */
export async function keepOn(db: Writer, id: number): Promise<void> {
  await sql`update environments e set auto_stop_at = null where e.id = ${id}`.execute(db)
}

/** Lets those end soon that nobody has touched, or deployed to, since. */
export async function markStale(db: Writer, projectId: number, before: Date): Promise<void> {
  await sql`
    update environments e set auto_stop_at = now()
    where e.project_id = ${projectId} and e.state = 'available' and e.updated_at < ${before}
      and not exists (select from deployments d where d.environment_id = e.id and d.created_at >= ${before})`.execute(
    db,
  )
}

/** Review apps, stopped and old, that are to go in a week; with `dryRun` those that would. */
export async function markReviewApps(
  db: Writer,
  projectId: number,
  { before, limit, dryRun }: { before: Date; limit: number; dryRun: boolean },
): Promise<BasicEnvironmentRow[]> {
  const chosen = sql`
    select e.id from environments e
    where e.project_id = ${projectId} and e.state = 'stopped' and lower(e.name) like 'review/%'
      and e.auto_delete_at is null and e.created_at < ${before}
    order by e.created_at, e.id limit ${limit}`
  const basics = sql`e.id, e.name, e.slug, e.external_url, e.created_at, e.updated_at`
  const { rows: found } = await (
    dryRun
      ? sql<BasicEnvironmentRow>`select ${basics} from environments e where e.id in (${chosen}) order by e.id`
      : sql<BasicEnvironmentRow>`
          update environments e set auto_delete_at = now() + interval '7 days'
          where e.id in (${chosen}) returning ${basics}`
  ).execute(db)
  return found
}

export async function removeMarked(tx: Tx): Promise<Gone[]> {
  const { rows: removed } = await sql<Gone>`
    delete from environments e where e.id in (
      select x.id from environments x where x.auto_delete_at <= now() and x.state = 'stopped' limit 1000)
    ${gone}`.execute(tx)
  return removed
}

export interface StopAction {
  readonly job_id: number
  readonly pipeline_id: number
  readonly resource_group: string | null
  readonly status: string
  readonly run_when: string
  readonly ref: string
  readonly tag: boolean
  readonly user_id: number | null
}

/** The job that stops an environment: of the pipeline that deployed to it last, as it named it. */
export async function stopAction(db: Reader, environmentId: number): Promise<StopAction | undefined> {
  const { rows: found } = await sql<StopAction>`
    select s.id as job_id, s.pipeline_id, s.resource_group, s.status, s.run_when, s.ref, s.tag, s.user_id
    from (
      select d.job_id, d.on_stop from deployments d
      where d.environment_id = ${environmentId} and d.status = 'success' order by d.id desc limit 1) last
    join ci_jobs j on j.id = last.job_id
    join ci_jobs s on s.pipeline_id = j.pipeline_id and s.name = last.on_stop and not s.retried`.execute(db)
  return found[0]
}
