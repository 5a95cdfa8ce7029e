import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { namespaceAvatar } from '../avatars/index.ts'
import { briefNamespace, lineName } from '../namespaces/index.ts'

export interface HomeRow {
  /** The names of the groups from the top one down, joined by ` / `. */
  readonly line_name: string
  readonly namespace_id: number
  readonly namespace_kind: 'user' | 'group'
  readonly namespace_name: string
  readonly namespace_path: string
  readonly namespace_full_path: string
  readonly namespace_parent_id: number | null
  readonly namespace_avatar: string | null
}

/** Of the namespace by this alias. */
export function homeColumns(namespace: string): RawBuilder<unknown> {
  const home = sql.ref(namespace)
  return sql`
    ${lineName(namespace)} as line_name,
    ${home}.id as namespace_id, ${home}.kind as namespace_kind, ${home}.name as namespace_name,
    ${home}.path as namespace_path, ${home}.full_path as namespace_full_path, ${home}.parent_id as namespace_parent_id,
    ${namespaceAvatar(namespace)} as namespace_avatar`
}

/** The namespace that a project lies in, as the project tells of it. */
export function homeEntity(row: HomeRow, externalUrl: string): Record<string, unknown> {
  const home = {
    id: row.namespace_id,
    name: row.namespace_name,
    path: row.namespace_path,
    kind: row.namespace_kind,
    full_path: row.namespace_full_path,
    parent_id: row.namespace_parent_id,
    avatar: row.namespace_avatar,
  }
  return briefNamespace(home, externalUrl)
}
