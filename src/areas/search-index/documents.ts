import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'
import type { SettingValues } from '../../settings/index.ts'
import type { Action } from './bulk.ts'
import { isIndexed } from './store.ts'

/** What people look for by words, as it stands in tables. */
export const kinds = ['projects', 'issues', 'merge_requests', 'milestones', 'users', 'notes'] as const
export type Kind = (typeof kinds)[number]

/** Rows that are read at once: texts may be of a megabyte. */
const mostRead = 100

/** Documents of the records with these ids, and of those that are gone or do not belong into the index that there is none. */
export async function* documentsOf(
  db: Reader,
  values: SettingValues,
  kind: Kind,
  ids: readonly number[],
  version: number,
): AsyncGenerator<Action> {
  for (let at = 0; at < ids.length; at += mostRead) {
    const some = ids.slice(at, at + mostRead)
    const { rows } = await sql<{ record_id: number } & Record<string, unknown>>`
      ${sources[kind](isIndexed(values))} and r.id = any (${some}::bigint[])`.execute(db)
    const found = new Map(rows.map((row) => [row.record_id, row]))
    for (const id of some) {
      const row = found.get(id)
      const document = row && { kind, ...shortened(row, values.elasticsearch_indexed_field_length_limit) }
      yield { id: `${kind}-${id}`, version, document }
    }
  }
}

/** Texts as long as the instance wants them. */
function shortened(row: Record<string, unknown>, longest: number): Record<string, unknown> {
  if (longest === 0) return row
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' && texts.has(name) ? value.slice(0, longest).toWellFormed() : value,
    ]),
  )
}

const texts: ReadonlySet<string> = new Set(['title', 'path', 'text'])

const sources: Readonly<Record<Kind, (indexed: RawBuilder<unknown>) => RawBuilder<unknown>>> = {
  // All projects can be found, also those of which nothing else is indexed.
  projects: () => sql`
    select r.id as record_id, r.id as project_id, r.name as title, r.full_path as path, r.description as text, r.created_at
    from projects r where true`,
  issues: (indexed) => sql`
    select r.id as record_id, r.project_id, r.iid, r.title, r.description as text, r.state, r.confidential, r.created_at
    from issues r join projects p on p.id = r.project_id join namespaces n on n.id = p.namespace_id where ${indexed}`,
  merge_requests: (indexed) => sql`
    select r.id as record_id, r.project_id, r.iid, r.title, r.description as text, r.state, r.created_at
    from merge_requests r join projects p on p.id = r.project_id join namespaces n on n.id = p.namespace_id where ${indexed}`,
  milestones: (indexed) => sql`
    select r.id as record_id, r.project_id, r.title, r.description as text, r.created_at
    from milestones r left join projects p on p.id = r.project_id
      join namespaces n on n.id = coalesce(p.namespace_id, r.namespace_id) where ${indexed}`,
  users: () => sql`
    select r.id as record_id, r.name as title, r.username as path, r.created_at
    from users r where r.state = 'active' and r.kind <> 'internal'`,
  notes: (indexed) => sql`
    select r.id as record_id, p.id as project_id, r.body as text, r.created_at
    from notes r join noteables b on b.id = r.noteable_id join projects p on p.id = b.project_id
      join namespaces n on n.id = p.namespace_id where not r.system and ${indexed}`,
}
