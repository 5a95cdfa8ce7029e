import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../../kernel/db/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'
import { ofProject, type Source } from '../lookup.ts'
import type { DependencyGroup } from './nuspec.ts'

export interface VersionRow {
  readonly project_id: number
  readonly name: string
  readonly name_key: string
  readonly version: string
  readonly created_at: string
  readonly metadata: Readonly<Record<string, string>> & {
    readonly dependencyGroups: readonly DependencyGroup[]
  }
}

const columns = sql`k.project_id, k.name, k.name_key, k.version, k.created_at, k.metadata`

function versionSelect({ from, where }: Source, key: string, version?: string): RawBuilder<unknown> {
  const one = version === undefined ? sql`true` : sql`k.version = ${version}`
  return sql`
    select ${columns} from ${from}
    where ${where} and k.package_type = 'nuget' and k.name_key = ${key} and k.status = 'default' and ${one}
    order by k.id`
}

export const versions = (key: string, version?: string): Read<VersionRow> =>
  rows(versionSelect(ofProject, key, version))

export async function versionsAt(
  db: Reader,
  source: Source,
  key: string,
  version?: string,
): Promise<readonly VersionRow[]> {
  return (await sql<VersionRow>`${versionSelect(source, key, version)}`.execute(db)).rows
}

export interface Search {
  readonly q: string
  readonly skip: number
  readonly take: number
  readonly prerelease: boolean
}

export interface Hits {
  readonly total: number
  readonly versions: readonly VersionRow[]
}

function searchSelect({ from, where }: Source, { q, skip, take, prerelease }: Search): RawBuilder<unknown> {
  const pattern = `%${q.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  const fits = sql`k.package_type = 'nuget' and k.status = 'default' and (${prerelease} or k.version not like '%-%')`
  const found = sql`select k.name_key from ${from} where ${where} and ${fits} and k.name_key like ${pattern} group by k.name_key`
  return sql`
    select (select count(*)::int from (${found}) every) as total, coalesce((
      select json_agg(x order by x.name_key, x.id) from (
        select k.id, ${columns} from ${from}
        where ${where} and ${fits} and k.name_key in (
          select hit.name_key from (${found}) hit order by hit.name_key limit ${take} offset ${skip})) x), '[]') as versions`
}

export const search = (asked: Search): Read<Hits> => rows(searchSelect(ofProject, asked))

export async function searchAt(db: Reader, source: Source, asked: Search): Promise<Hits> {
  return (await sql<Hits>`${searchSelect(source, asked)}`.execute(db)).rows[0]!
}
