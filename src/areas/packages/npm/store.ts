import type { RawBuilder } from 'kysely'
import { sql, type Database, type Reader, type Tx } from '../../../kernel/db/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'
import { ofProject, type Source } from '../lookup.ts'
import { tagsOf } from '../store.ts'

export interface VersionRow {
  readonly id: number
  readonly project_id: number
  readonly name: string
  readonly version: string
  readonly metadata: { readonly manifest: Record<string, unknown>; readonly integrity: string }
  readonly tags: readonly string[]
  readonly file_name: string
  readonly sha1: string
}

/** All versions of one name, the newest last. A name with a scope is found everywhere only in the group of that name. */
function versionSelect({ from, where }: Source, name: string): RawBuilder<unknown> {
  return sql`
    select k.id, k.project_id, k.name, k.version, k.metadata, ${tagsOf} as tags, f.file_name, f.sha1
    from ${from} join lateral (
      select f.file_name, f.sha1 from package_files f where f.package_id = k.id order by f.id desc limit 1) f on true
    where ${where} and k.package_type = 'npm' and k.name_key = ${name} and k.status = 'default'
    order by k.id`
}

export const versions = (name: string): Read<VersionRow> => rows(versionSelect(ofProject, name))

export async function versionsAt(db: Reader, source: Source, name: string): Promise<readonly VersionRow[]> {
  return (await sql<VersionRow>`${versionSelect(source, name)}`.execute(db)).rows
}

/** What lies in the top-level group of this path, or below it. */
export const belowPath = (source: Source, path: string): Source => ({
  from: source.from,
  where: sql`${source.where} and n.traversal_ids[1] = (
    select top.id from namespaces top where lower(top.full_path) = ${path.toLowerCase()})`,
})

export interface TagRow {
  readonly name: string
  readonly version: string
}

export function tags(name: string): Read<TagRow> {
  return rows(sql`
    select t.name, k.version from package_tags t join packages k on k.id = t.package_id
    where t.project_id = subject.id and t.package_type = 'npm' and t.name_key = ${name} order by t.name`)
}

/** The package of a version, held until the transaction ends. */
export async function holdVersion(
  tx: Tx,
  projectId: number,
  name: string,
  version: string,
): Promise<number | undefined> {
  const { rows: found } = await sql<{ id: number }>`
    select k.id from packages k
    where k.project_id = ${projectId} and k.package_type = 'npm' and k.name_key = ${name} and k.version = ${version}
    for update`.execute(tx)
  return found[0]?.id
}

export async function removeTag(
  db: Database,
  projectId: number,
  name: string,
  tag: string,
): Promise<boolean> {
  const { rows: removed } = await sql`
    delete from package_tags t
    where t.project_id = ${projectId} and t.package_type = 'npm' and t.name_key = ${name} and t.name = ${tag}
    returning t.id`.execute(db.writer)
  return removed.length > 0
}

/** Says of versions why they are not to be used any more; an empty text takes that back. */
export async function deprecate(
  db: Database,
  projectId: number,
  name: string,
  reasons: ReadonlyMap<string, string>,
): Promise<void> {
  const list = JSON.stringify([...reasons].map(([version, reason]) => ({ version, reason })))
  await sql`
    update packages k set updated_at = now(), metadata = case when x.reason = ''
      then k.metadata #- '{manifest,deprecated}'
      else jsonb_set(k.metadata, '{manifest,deprecated}', to_jsonb(x.reason)) end
    from jsonb_to_recordset(${list}::jsonb) x (version text, reason text)
    where k.project_id = ${projectId} and k.package_type = 'npm' and k.name_key = ${name} and k.version = x.version`.execute(
    db.writer,
  )
}
