import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../../kernel/db/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'
import { ofProject, type Source } from '../lookup.ts'

export interface LinkRow {
  readonly project_id: number
  readonly name: string
  readonly file_name: string
  readonly digest: string
  readonly requires_python: string | null
}

function linkSelect({ from, where }: Source, key: string): RawBuilder<unknown> {
  return sql`
    select k.project_id, k.name, f.file_name, f.digest, f.metadata ->> 'requires_python' as requires_python
    from ${from} join package_files f on f.package_id = k.id
    where ${where} and k.package_type = 'pypi' and k.name_key = ${key} and k.status = 'default'
    order by f.id`
}

export const links = (key: string): Read<LinkRow> => rows(linkSelect(ofProject, key))

export async function linksAt(db: Reader, source: Source, key: string): Promise<readonly LinkRow[]> {
  return (await sql<LinkRow>`${linkSelect(source, key)}`.execute(db)).rows
}

function nameSelect({ from, where }: Source): RawBuilder<unknown> {
  return sql`
    select distinct on (k.name_key) k.name from ${from}
    where ${where} and k.package_type = 'pypi' and k.status = 'default'
    order by k.name_key, k.id desc`
}

export const names = (): Read<{ readonly name: string }> => rows(nameSelect(ofProject))

export async function namesAt(db: Reader, source: Source): Promise<readonly { readonly name: string }[]> {
  return (await sql<{ name: string }>`${nameSelect(source)}`.execute(db)).rows
}
