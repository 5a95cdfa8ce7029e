import type { RawBuilder } from 'kysely'
import { packagesReadable, projectColumns, projectLevels } from '../../access/index.ts'
import { sql, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { pipelineSummaryColumns } from '../pipelines/index.ts'
import type { FileRow, PackageRow, VersionedRow } from './entities.ts'

const pipelineJson = (id: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select to_json(x) from (select ${pipelineSummaryColumns} from ci_pipelines p where p.id = ${id}) x)`

/** Kinds of packages that there are here. */
export const formats = ['generic', 'npm', 'pypi', 'maven', 'helm', 'nuget'] as const
export type Format = (typeof formats)[number]

/** Of package `k`. */
export const tagsOf = sql`array(select t.name from package_tags t where t.package_id = k.id order by t.name)`

const columns = sql`
  k.id, k.name, k.version, k.package_type, k.status, k.created_at, k.last_downloaded_at, ${tagsOf} as tags,
  ${pipelineJson(sql`k.pipeline_id`)} as pipeline`

/** Of file `f`. */
export const fileColumns = sql`
  f.id, f.package_id, f.file_name, f.size, f.digest, f.md5, f.sha1, f.created_at,
  ${pipelineJson(sql`f.pipeline_id`)} as pipeline`

export const orders = ['created_at', 'name', 'version', 'type'] as const
export type Order = (typeof orders)[number] | 'project_path'

export interface Filter {
  readonly order_by: Order
  readonly sort: 'asc' | 'desc'
  readonly package_type?: string | undefined
  readonly package_name?: string | undefined
  readonly package_version?: string | undefined
  readonly status?: string | undefined
  readonly include_versionless?: boolean | undefined
}

const orderColumns: Readonly<Record<Order, string>> = {
  created_at: 'k.created_at',
  name: 'k.name',
  version: 'k.version',
  type: 'k.package_type',
  project_path: 'p.full_path',
}

const pattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`

/** Hidden packages are listed only for who asks for them. */
function conditions(filter: Filter): RawBuilder<unknown> {
  const each: RawBuilder<unknown>[] = [sql`k.status = ${filter.status ?? 'default'}`]
  if (filter.include_versionless !== true) each.push(sql`k.version is not null`)
  if (filter.package_type !== undefined) each.push(sql`k.package_type = ${filter.package_type}`)
  if (filter.package_version !== undefined) each.push(sql`k.version = ${filter.package_version}`)
  if (filter.package_name !== undefined) each.push(sql`k.name ilike ${pattern(filter.package_name)}`)
  return sql.join(each, sql` and `)
}

function order({ order_by, sort }: Filter): RawBuilder<unknown> {
  const direction = sql.raw(sort)
  return sql`${sql.ref(orderColumns[order_by])} ${direction}, k.id ${direction}`
}

/** Read together with the caller's access: `subject` is the project. */
export function list(filter: Filter, input: PageInput): Read<PackageRow> {
  const from = sql`from packages k where k.project_id = subject.id and ${conditions(filter)}`
  return page({ columns, from, order: order(filter) }, input)
}

/** With the project of each, and what the caller is there. */
export type GroupPackageRow = PackageRow & {
  readonly project: Readonly<Record<string, unknown>>
  readonly role: number
}

/** `subject` is the group; what the caller may not read is left out. */
export function listOfGroup(
  filter: Filter & { readonly exclude_subgroups: boolean },
  input: PageInput,
): Read<GroupPackageRow> {
  const inside = filter.exclude_subgroups ? sql`n.id = subject.id` : sql`n.traversal_ids @> array[subject.id]`
  return page(
    {
      columns: sql`${columns}, access.role, (
        select to_json(x) from (select ${projectColumns}, access.permissions) x) as project`,
      from: sql`
        from packages k join projects p on p.id = k.project_id join namespaces n on n.id = p.namespace_id ${projectLevels}
        where ${inside} and ${packagesReadable} and ${conditions(filter)}`,
      order: order(filter),
    },
    input,
  )
}

/** Other versions that are shown with one; the newest of more. */
const mostVersions = 100

export function one(id: number): Read<VersionedRow> {
  return rows(sql`
    select ${columns}, coalesce((
      select json_agg(v order by v.id desc) from (
        select k2.id, k2.version, k2.created_at, ${pipelineJson(sql`k2.pipeline_id`)} as pipeline,
          array(select t.name from package_tags t where t.package_id = k2.id order by t.name) as tags
        from packages k2
        where k2.project_id = k.project_id and k2.package_type = k.package_type and k2.name_key = k.name_key and k2.id <> k.id
          and k2.status = 'default'
        order by k2.id desc limit ${mostVersions}) v), '[]') as versions
    from packages k where k.project_id = subject.id and k.id = ${id}`)
}

export async function remove(db: Writer, id: number): Promise<void> {
  await sql`delete from packages k where k.id = ${id}`.execute(db)
}

export function listFiles(packageId: number, input: PageInput): Read<FileRow> {
  const from = sql`
    from package_files f join packages k on k.id = f.package_id
    where k.project_id = subject.id and f.package_id = ${packageId}`
  return page({ columns: fileColumns, from, order: sql`f.id` }, input)
}

export function oneFile(packageId: number, id: number): Read<{ readonly id: number }> {
  return rows(sql`
    select f.id from package_files f join packages k on k.id = f.package_id
    where k.project_id = subject.id and k.id = ${packageId} and f.id = ${id}`)
}

export async function removeFile(db: Writer, id: number): Promise<void> {
  await sql`delete from package_files f where f.id = ${id}`.execute(db)
}

export async function noteDownload(db: Writer, id: number): Promise<void> {
  await sql`update packages k set last_downloaded_at = now() where k.id = ${id}`.execute(db)
}
