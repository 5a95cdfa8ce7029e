import type { RawBuilder } from 'kysely'
import { projectsWithRole, groupsWithRole } from '../../access/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { RunnerManagerRow } from '../jobs/index.ts'
import { lineName } from '../namespaces/index.ts'
import type { RunnerDetailRow, RunnerListRow, RunnerProjectRow } from './entities.ts'
import { upgradeStatus } from './releases-store.ts'

/** `compared`: with the releases that are known. */
const listColumns = (compared: boolean) => sql`
  r.id, r.description, r.paused, r.runner_type, r.name, r.contacted_at, r.created_at, r.created_by_id, r.tag_list,
  exists (select from ci_jobs j where j.runner_id = r.id and j.status in ('running', 'canceling')) as busy,
  ${compared ? upgradeStatus() : sql`null`} as upgrade_status`

const detailColumns = (compared: boolean) => sql`
  ${listColumns(compared)}, r.namespace_id, r.run_untagged, r.locked, r.maximum_timeout, r.access_level, r.maintenance_note,
  r.updated_at,
  (select json_build_object('version', m.version, 'revision', m.revision, 'platform', m.platform,
    'architecture', m.architecture, 'ip_address', m.ip_address)
    from ci_runner_managers m where m.runner_id = r.id order by m.contacted_at desc nulls last, m.id desc limit 1)
    as manager,
  coalesce((
    select json_agg(json_build_object('id', p.id, 'name', p.name, 'path', p.path, 'full_path', p.full_path,
      'line_name', ${lineName('n')}) order by x.project_id)
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
  readonly upgrade_status?: string | undefined
  /** Whether runners are compared with the releases that are known. */
  readonly compared: boolean
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
  if (filter.upgrade_status !== undefined)
    found.push(filter.compared ? sql`${upgradeStatus()} = ${filter.upgrade_status}` : sql`false`)
  return found
}

function list(where: RawBuilder<unknown>, filter: RunnerFilter, input: PageInput): Read<RunnerListRow> {
  return page(
    {
      columns: listColumns(filter.compared),
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

export function one(id: number, compared = false): Read<RunnerDetailRow> {
  return rows(sql`select ${detailColumns(compared)} from ci_runners r where r.id = ${id}`)
}

export async function find(db: Reader, id: number, compared = false): Promise<RunnerDetailRow | undefined> {
  const result = await sql<{ row: RunnerDetailRow }>`
    select to_json(x) as row from (select ${detailColumns(compared)} from ci_runners r where r.id = ${id}) x`.execute(
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
      columns: sql`p.id, p.name, p.path, p.full_path, ${lineName('n')} as line_name`,
      from: sql`
        from ci_runner_projects x join projects p on p.id = x.project_id join namespaces n on n.id = p.namespace_id
        where x.runner_id = ${id} and (actor.admin or p.id in (${projectsWithRole('maintainer')}))`,
      order: sql`p.id`,
    },
    input,
  )
}

/** Of the runner that asks. */
export interface OwnFacts {
  readonly token_expires_at: string | null
  readonly updated_at: string
  readonly projects: readonly number[]
}

const projectsOfRunner = sql`(
  select coalesce(json_agg(x.project_id order by x.project_id), '[]') from ci_runner_projects x
  where x.runner_id = r.id) as projects`

export function ownFacts(): Read<OwnFacts> {
  return rows(sql`
    select r.token_expires_at, r.updated_at, ${projectsOfRunner} from ci_runners r where r.id = subject.id`)
}

/** What a request for a job needs of its runner, read with the runner itself. */
export interface AskingRow {
  readonly version: string
  readonly projects: readonly number[]
  readonly manager: (RunnerManagerRow & { readonly id: number }) | null
}

export function asking(systemId: string): Read<AskingRow> {
  return rows(sql`
    select r.updated_at as version, ${projectsOfRunner},
      (select to_json(m) from ci_runner_managers m where m.runner_id = r.id and m.system_id = ${systemId}) as manager
    from ci_runners r where r.id = subject.id`)
}
