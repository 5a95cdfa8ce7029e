import { sql, type RawBuilder } from 'kysely'
import { projectsWithRole, groupsWithRole } from '../../access/index.ts'
import { onConstraint, type Database, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid, unavailable } from '../../kernel/errors/index.ts'
import type { PlanLimits } from '../../settings/index.ts'
import { digestToken, newToken } from '../../kernel/lib/secrets.ts'
import type { RunnerManagerRow } from '../jobs/index.ts'
import type { RunnerDetailRow, RunnerListRow, RunnerProjectRow } from './entities.ts'
import { runnersChannel } from './job-queue.ts'

const listColumns = sql`
  r.id, r.description, r.paused, r.runner_type, r.name, r.contacted_at, r.created_at, r.created_by_id, r.tag_list,
  exists (select from ci_jobs j where j.runner_id = r.id and j.status in ('running', 'canceling')) as busy`

const detailColumns = sql`
  ${listColumns}, r.namespace_id, r.run_untagged, r.locked, r.maximum_timeout, r.access_level, r.maintenance_note,
  r.updated_at,
  (select json_build_object('version', m.version, 'revision', m.revision, 'platform', m.platform,
    'architecture', m.architecture, 'ip_address', m.ip_address)
    from ci_runner_managers m where m.runner_id = r.id order by m.contacted_at desc nulls last, m.id desc limit 1)
    as manager,
  coalesce((
    select json_agg(json_build_object('id', p.id, 'name', p.name, 'path', p.path, 'full_path', p.full_path,
      'namespace', n.name) order by x.project_id)
    from ci_runner_projects x join projects p on p.id = x.project_id join namespaces n on n.id = p.namespace_id
    where x.runner_id = r.id), '[]') as projects,
  (select json_build_object('id', n.id, 'name', n.name, 'full_path', n.full_path)
    from namespaces n where n.id = r.namespace_id) as "group"`

export interface RunnerFilter {
  readonly type?: string | undefined
  readonly status?: string | undefined
  readonly paused?: boolean | undefined
  readonly tag_list?: readonly string[] | undefined
  readonly version_prefix?: string | undefined
}

/** Old spellings of `status` are kept: `active` and `paused` of the first API. */
function conditionsOf(filter: RunnerFilter): RawBuilder<unknown>[] {
  const found: RawBuilder<unknown>[] = []
  const contacted = sql`coalesce(r.contacted_at, r.created_at)`
  if (filter.type !== undefined) found.push(sql`r.runner_type = ${filter.type}`)
  if (filter.paused !== undefined) found.push(sql`r.paused = ${filter.paused}`)
  if (filter.status === 'active') found.push(sql`not r.paused`)
  if (filter.status === 'paused') found.push(sql`r.paused`)
  if (filter.status === 'online') found.push(sql`r.contacted_at > now() - interval '2 hours'`)
  if (filter.status === 'offline') found.push(sql`r.contacted_at <= now() - interval '2 hours'`)
  if (filter.status === 'stale') found.push(sql`${contacted} < now() - interval '7 days'`)
  if (filter.status === 'never_contacted') found.push(sql`r.contacted_at is null`)
  if (filter.tag_list !== undefined && filter.tag_list.length > 0) {
    found.push(sql`r.tag_list @> ${[...filter.tag_list]}::text[]`)
  }
  if (filter.version_prefix !== undefined) {
    found.push(sql`exists (
      select from ci_runner_managers m where m.runner_id = r.id and starts_with(m.version, ${filter.version_prefix}))`)
  }
  return found
}

function list(where: RawBuilder<unknown>, filter: RunnerFilter, input: PageInput): Read<RunnerListRow> {
  return page(
    {
      columns: listColumns,
      from: sql`from ci_runners r where ${sql.join([where, ...conditionsOf(filter)], sql` and `)}`,
      order: sql`r.id desc`,
    },
    input,
  )
}

export function all(filter: RunnerFilter, input: PageInput): Read<RunnerListRow> {
  return list(sql`true`, filter, input)
}

/** Those that the caller looks after: of projects as Maintainer, of groups as Owner. */
export function own(filter: RunnerFilter, input: PageInput): Read<RunnerListRow> {
  return list(
    sql`(r.id in (
        select x.runner_id from ci_runner_projects x where x.project_id in (${projectsWithRole('maintainer')}))
      or r.namespace_id in (${groupsWithRole('owner')}))`,
    filter,
    input,
  )
}

/** Those that serve the project: its own, of its groups, of the instance. */
export function ofProject(filter: RunnerFilter, input: PageInput): Read<RunnerListRow> {
  return list(
    sql`(exists (select from ci_runner_projects x where x.runner_id = r.id and x.project_id = subject.id)
      or (r.runner_type = 'group_type' and r.namespace_id = any (subject.line)
        and coalesce((subject.settings ->> 'group_runners_enabled')::boolean, true))
      or (r.runner_type = 'instance_type' and coalesce((subject.settings ->> 'shared_runners_enabled')::boolean, true)))`,
    filter,
    input,
  )
}

export function ofGroup(filter: RunnerFilter, input: PageInput): Read<RunnerListRow> {
  return list(
    sql`((r.runner_type = 'group_type' and r.namespace_id = any (subject.line)) or r.runner_type = 'instance_type')`,
    filter,
    input,
  )
}

export function one(id: number): Read<RunnerDetailRow> {
  return rows(sql`select ${detailColumns} from ci_runners r where r.id = ${id}`)
}

export async function find(db: Reader, id: number): Promise<RunnerDetailRow | undefined> {
  const result = await sql<{ row: RunnerDetailRow }>`
    select to_json(x) as row from (select ${detailColumns} from ci_runners r where r.id = ${id}) x`.execute(
    db,
  )
  return result.rows[0]?.row
}

export function managersOf(id: number, input: PageInput): Read<RunnerManagerRow> {
  return page(
    {
      columns: sql`m.id, m.system_id, m.version, m.revision, m.platform, m.architecture, m.created_at,
        m.contacted_at, m.ip_address`,
      from: sql`from ci_runner_managers m where m.runner_id = ${id}`,
      order: sql`m.id desc`,
    },
    input,
  )
}

/** Of a project runner, as far as the caller may know of them. */
export function projectsOf(id: number, input: PageInput): Read<RunnerProjectRow> {
  return page(
    {
      columns: sql`p.id, p.name, p.path, p.full_path, n.name as namespace`,
      from: sql`
        from ci_runner_projects x join projects p on p.id = x.project_id join namespaces n on n.id = p.namespace_id
        where x.runner_id = ${id} and (actor.admin or p.id in (${projectsWithRole('maintainer')}))`,
      order: sql`p.id`,
    },
    input,
  )
}

export interface RunnerValues {
  readonly description: string | null
  readonly paused: boolean
  readonly locked: boolean
  readonly run_untagged: boolean
  readonly tag_list: readonly string[]
  readonly access_level: 'not_protected' | 'ref_protected'
  readonly maximum_timeout: number | null
  readonly maintenance_note: string | null
}

export interface NewRunner extends RunnerValues {
  readonly runner_type: 'instance_type' | 'group_type' | 'project_type'
  readonly name?: string | null
  readonly namespaceId: number | null
  readonly projectId: number | null
  readonly createdById: number | null
  readonly creation: 'api' | 'registration' | 'built_in'
  /** Of its token; null: never. */
  readonly expiresAt: Date | null
}

/** What somebody is told of a token that was just made. */
export interface MadeToken {
  readonly token: string
  readonly token_expires_at: Date | null
}

const tokenPrefixes = { api: 'glrt-', built_in: 'glrt-', registration: 'glrtr-' } as const
/** A runner; the token is to be shown this once, only its digest is kept. */
export async function create(
  tx: Tx,
  runner: NewRunner,
  limits: Pick<PlanLimits, 'ci_registered_group_runners' | 'ci_registered_project_runners'>,
): Promise<MadeToken & { id: number }> {
  const most =
    runner.projectId === null ? limits.ci_registered_group_runners : limits.ci_registered_project_runners
  await requireRoom(tx, runner, most)
  const token = newToken(tokenPrefixes[runner.creation])
  const row = await tx
    .insertInto('ci_runners')
    .values({
      runner_type: runner.runner_type,
      namespace_id: runner.namespaceId,
      token_digest: digestToken(token),
      token_hint: hintOf(token),
      token_expires_at: runner.expiresAt,
      name: runner.name ?? null,
      description: runner.description,
      maintenance_note: runner.maintenance_note,
      tag_list: [...runner.tag_list],
      run_untagged: runner.run_untagged,
      paused: runner.paused,
      locked: runner.locked,
      access_level: runner.access_level,
      maximum_timeout: runner.maximum_timeout,
      creation: runner.creation,
      created_by_id: runner.createdById,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(onConstraint('ci_runners_token', unavailable))
  if (runner.projectId !== null) {
    await tx
      .insertInto('ci_runner_projects')
      .values({ runner_id: row.id, project_id: runner.projectId })
      .execute()
  }
  return { id: row.id, token, token_expires_at: runner.expiresAt }
}

async function requireRoom(tx: Tx, { namespaceId, projectId }: NewRunner, most: number): Promise<void> {
  if (namespaceId === null && projectId === null) return
  const { rows: found } = await sql`
    select from (
      select r.id from ci_runners r where r.namespace_id = ${namespaceId}
      union all
      select x.runner_id from ci_runner_projects x where x.project_id = ${projectId}) there
    limit ${most}`.execute(tx)
  if (found.length < most) return
  const kind = projectId === null ? 'group' : 'project'
  throw invalid({
    base: [`Maximum number of ci registered ${kind} runners (${most}) exceeded`],
  })
}

/** The first characters after the prefix, by which people know a runner. */
function hintOf(token: string): string {
  return token.replace(/^glrtr?-/, '').slice(0, 9)
}

/** Of the runner that asks. */
export function ownFacts(): Read<{ readonly token_expires_at: string | null; readonly updated_at: string }> {
  return rows(sql`select r.token_expires_at, r.updated_at from ci_runners r where r.id = subject.id`)
}

export async function renewToken(tx: Tx, id: number, expiresAt: Date | null): Promise<MadeToken> {
  const { rows: found } = await sql<{ creation: NewRunner['creation'] }>`
    select r.creation from ci_runners r where r.id = ${id} for update`.execute(tx)
  const token = newToken(tokenPrefixes[found[0]?.creation ?? 'api'])
  await sql`
    update ci_runners r set token_digest = ${digestToken(token)}, token_hint = ${hintOf(token)},
      token_expires_at = ${expiresAt}, updated_at = clock_timestamp()
    where r.id = ${id}`.execute(tx)
  await tellChanged(tx, id)
  return { token, token_expires_at: expiresAt }
}

/** Writes the given columns; `updated_at` grows, by which a waiting runner's facts are known to be old. */
export async function change(tx: Tx, id: number, values: RunnerValues): Promise<void> {
  await sql`
    update ci_runners r set description = ${values.description}, paused = ${values.paused}, locked = ${values.locked},
      run_untagged = ${values.run_untagged}, tag_list = ${[...values.tag_list]}::text[],
      access_level = ${values.access_level}, maximum_timeout = ${values.maximum_timeout},
      maintenance_note = ${values.maintenance_note}, updated_at = clock_timestamp()
    where r.id = ${id}`.execute(tx)
  await tellChanged(tx, id)
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('ci_runners as r').where('r.id', '=', id).execute()
  await tellChanged(tx, id)
}

export async function assign(tx: Tx, id: number, projectId: number): Promise<boolean> {
  const { rows: added } = await sql`
    insert into ci_runner_projects (runner_id, project_id) values (${id}, ${projectId})
    on conflict do nothing returning runner_id`.execute(tx)
  await touch(tx, id)
  return added.length > 0
}

export async function unassign(tx: Tx, id: number, projectId: number): Promise<void> {
  await tx
    .deleteFrom('ci_runner_projects as x')
    .where('x.runner_id', '=', id)
    .where('x.project_id', '=', projectId)
    .execute()
  await touch(tx, id)
}

async function touch(tx: Tx, id: number): Promise<void> {
  await sql`update ci_runners r set updated_at = clock_timestamp() where r.id = ${id}`.execute(tx)
  await tellChanged(tx, id)
}

async function tellChanged(tx: Tx, id: number): Promise<void> {
  await sql`select pg_notify(${runnersChannel}, ${String(id)})`.execute(tx)
}

export interface ManagerFacts {
  readonly systemId: string
  readonly version: string | null
  readonly revision: string | null
  readonly platform: string | null
  readonly architecture: string | null
  readonly ip: string
}

/** What a request for a job needs of its runner, read with the runner itself. */
export interface AskingRow {
  readonly version: string
  readonly projects: readonly number[]
  readonly manager: (RunnerManagerRow & { readonly id: number }) | null
}

export function asking(systemId: string): Read<AskingRow> {
  return rows(sql`
    select r.updated_at as version, (
        select coalesce(json_agg(x.project_id order by x.project_id), '[]') from ci_runner_projects x
        where x.runner_id = r.id) as projects,
      (select to_json(m) from ci_runner_managers m where m.runner_id = r.id and m.system_id = ${systemId}) as manager
    from ci_runners r where r.id = subject.id`)
}

/** Notes a contact, of the runner and of the program that speaks for it; answers the latter's id. */
export async function noteContact(db: Database, runnerId: number, facts: ManagerFacts): Promise<number> {
  const { rows: noted } = await sql<{ id: number }>`
    with runner as (update ci_runners r set contacted_at = now() where r.id = ${runnerId})
    insert into ci_runner_managers as m (runner_id, system_id, version, revision, platform, architecture, ip_address,
      contacted_at)
    values (${runnerId}, ${facts.systemId}, ${facts.version}, ${facts.revision}, ${facts.platform},
      ${facts.architecture}, ${facts.ip}, now())
    on conflict (runner_id, system_id) do update set version = coalesce(excluded.version, m.version),
      revision = coalesce(excluded.revision, m.revision), platform = coalesce(excluded.platform, m.platform),
      architecture = coalesce(excluded.architecture, m.architecture), ip_address = excluded.ip_address,
      contacted_at = now()
    returning m.id`.execute(db.writer)
  return noted[0]!.id
}

export async function removeManager(tx: Tx, runnerId: number, systemId: string): Promise<boolean> {
  const { rows: gone } = await sql`
    delete from ci_runner_managers m where m.runner_id = ${runnerId} and m.system_id = ${systemId}
    returning m.id`.execute(tx)
  return gone.length > 0
}

/** The address of what the job deploys; what it will report itself is still to be put in. */
export async function keepEnvironmentUrl(db: Writer, jobId: number, url: string): Promise<void> {
  await sql`update ci_jobs j set environment_url = ${url} where j.id = ${jobId}`.execute(db)
}
