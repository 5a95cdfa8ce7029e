import type { RawBuilder } from 'kysely'
import { actorRow, packagesReadableBy, projectLevels, type Actor } from '../../access/index.ts'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import type { Format } from './store.ts'

/** Where packages are looked for: a group with all below it, or the whole instance. What a caller may not read is not there. */
export type Place = { readonly group: number } | 'instance'

/** A row source of packages `k` and what is to hold of them. */
export interface Source {
  readonly from: RawBuilder<unknown>
  readonly where: RawBuilder<unknown>
}

/** In a `read` of an endpoint on a project. */
export const ofProject: Source = {
  from: sql`packages k`,
  where: sql`k.project_id = subject.id`,
}

/** A project that the caller was let into. */
export const ofProjectId = (id: number): Source => ({
  from: sql`packages k`,
  where: sql`k.project_id = ${id}`,
})

export function ofPlace(place: Place, actor: Actor): Source {
  const inside = place === 'instance' ? sql`true` : sql`n.traversal_ids @> array[${place.group}::bigint]`
  return {
    from: sql`packages k join projects p on p.id = k.project_id join namespaces n on n.id = p.namespace_id
      cross join ${actorRow(actor)} ${projectLevels}`,
    where: sql`${inside} and ${packagesReadableBy(actor)}`,
  }
}

/** A file on its way out; `stale`: it is some time that its package was noted as fetched. */
export interface FoundFile {
  readonly package_id: number
  readonly file_name: string
  readonly size: number
  readonly digest: string
  readonly md5: string
  readonly sha1: string
  readonly stale: boolean
}

export interface FileSearch {
  readonly type: Format
  /** Undefined: any. */
  readonly key?: string
  readonly version?: string | null
  readonly fileName?: string
  readonly digest?: string
  readonly channel?: string
}

function fileSelect({ from, where }: Source, search: FileSearch): RawBuilder<unknown> {
  const { type, key, version, fileName, digest, channel } = search
  const each = [where, sql`k.package_type = ${type}`]
  if (key !== undefined) each.push(sql`k.name_key = ${key}`)
  if (version !== undefined) each.push(sql`k.version is not distinct from ${version}`)
  if (fileName !== undefined) each.push(sql`f.file_name = ${fileName}`)
  if (digest !== undefined) each.push(sql`f.digest = ${digest}`)
  if (channel !== undefined) each.push(sql`f.metadata ->> 'channel' = ${channel}`)
  return sql`
    select f.id, f.package_id, f.file_name, f.size, f.digest, f.md5, f.sha1,
      k.last_downloaded_at is null or k.last_downloaded_at < now() - interval '1 hour' as stale
    from ${from} join package_files f on f.package_id = k.id
    where ${sql.join(each, sql` and `)}
    order by f.id desc limit 1`
}

/** The newest file in the project of the endpoint that is what is searched for. */
export const fileOf = (search: FileSearch): Read<FoundFile> => rows(fileSelect(ofProject, search))

export async function fileAt(db: Reader, source: Source, search: FileSearch): Promise<FoundFile | undefined> {
  const { rows: found } = await sql<FoundFile>`${fileSelect(source, search)}`.execute(db)
  return found[0]
}
