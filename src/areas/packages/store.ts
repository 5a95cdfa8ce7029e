import { sql, type RawBuilder } from 'kysely'
import { packagesOpen, projectColumns, projectLevels, projectVisible } from '../../access/index.ts'
import { holdContent, type Blobs } from '../../blobs/index.ts'
import { onConstraint, type Database, type Writer } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { pipelineSummaryColumns } from '../pipelines/index.ts'
import type { StoredFile } from './content.ts'
import type { FileRow, PackageRow, VersionedRow } from './entities.ts'
import type { Published } from './rules.ts'

const pipelineJson = (id: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select to_json(x) from (select ${pipelineSummaryColumns} from ci_pipelines p where p.id = ${id}) x)`

const columns = sql`
  k.id, k.name, k.version, k.package_type, k.status, k.created_at, k.last_downloaded_at,
  ${pipelineJson(sql`k.pipeline_id`)} as pipeline`

const fileColumns = sql`
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
        where ${inside} and ${projectVisible} and ${packagesOpen} and ${conditions(filter)}`,
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
        select k2.id, k2.version, k2.created_at, ${pipelineJson(sql`k2.pipeline_id`)} as pipeline
        from packages k2
        where k2.project_id = k.project_id and k2.package_type = k.package_type and k2.name = k.name and k2.id <> k.id
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

/** The newest file of this name in a generic package; `stale`: it is some time that it was noted as fetched. */
export function newest({ name, version, fileName }: Published): Read<FileRow & { readonly stale: boolean }> {
  return rows(sql`
    select ${fileColumns}, k.last_downloaded_at is null or k.last_downloaded_at < now() - interval '1 hour' as stale
    from packages k join package_files f on f.package_id = k.id and f.file_name = ${fileName}
    where k.project_id = subject.id and k.package_type = 'generic' and k.name = ${name} and k.version = ${version}
    order by f.id desc limit 1`)
}

export async function noteDownload(db: Writer, id: number): Promise<void> {
  await sql`update packages k set last_downloaded_at = now() where k.id = ${id}`.execute(db)
}

export interface NewFile extends Published, StoredFile {
  readonly projectId: number
  /** Undefined: as it is, and `default` of a new package. */
  readonly status: 'default' | 'hidden' | undefined
  readonly creatorId: number | null
  readonly pipelineId: number | null
}

/** Writes down a file whose content is stored, in its package, which is made where there is none. */
export async function publish(db: Database, blobs: Blobs, file: NewFile): Promise<FileRow> {
  return db.transaction(async (tx) => {
    await holdContent(tx, blobs, 'package_files', file.digest)
    const { rows: made } = await sql<FileRow>`
      with package as (
        insert into packages as k (project_id, package_type, name, version, status, creator_id, pipeline_id)
        values (${file.projectId}, 'generic', ${file.name}, ${file.version}, ${file.status ?? 'default'},
          ${file.creatorId}, ${file.pipelineId})
        on conflict on constraint packages_version do update set updated_at = now(),
          status = coalesce(${file.status ?? null}, k.status),
          pipeline_id = coalesce(excluded.pipeline_id, k.pipeline_id)
        returning id
      ), f as (
        insert into package_files (package_id, file_name, size, digest, md5, sha1, pipeline_id)
        select package.id, ${file.fileName}, ${file.size}::bigint, ${file.digest}, ${file.md5}, ${file.sha1},
          ${file.pipelineId}::bigint
        from package returning *
      )
      select ${fileColumns} from f`
      .execute(tx)
      .catch(onConstraint('packages_project', () => notFound('Project')))
    return made[0]!
  })
}
