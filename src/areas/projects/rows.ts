import { sql } from 'kysely'
import { projectLevels } from '../../access/index.ts'
import { sharedWith, type SharedWithRow } from '../shares/index.ts'
import { basicUserJson, type BasicUserRow } from '../users/index.ts'

/** A project as answers need it: its own columns, those of its namespace, and the levels of the caller. */
export interface ProjectRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly description: string | null
  readonly visibility: number
  readonly archived: boolean
  readonly default_branch: string | null
  readonly creator_id: number | null
  readonly storage: string
  readonly repository_empty: boolean
  readonly readme_path: string | null
  readonly settings: Readonly<Record<string, unknown>>
  readonly feature_levels: Readonly<Record<string, number>>
  readonly topics: readonly string[]
  readonly last_activity_at: string
  readonly created_at: string
  readonly updated_at: string
  readonly line: readonly number[]
  readonly line_name: string
  readonly namespace_id: number
  readonly namespace_kind: 'user' | 'group'
  readonly namespace_name: string
  readonly namespace_path: string
  readonly namespace_full_path: string
  readonly namespace_parent_id: number | null
  /** Whose personal namespace it lies in. */
  readonly owner: BasicUserRow | null
  readonly project_access: number | null
  readonly group_access: number | null
  readonly role: number
  readonly shared_with_groups: readonly SharedWithRow[]
}

/** Columns of `ProjectRow`, over `projects p` joined as `projectJoins` says. */
export const projectColumns = sql`
  p.id, p.name, p.path, p.full_path, p.description, p.visibility, p.archived, p.default_branch, p.creator_id, p.storage,
  p.refs_version, p.repository_empty, p.readme_path, p.settings, p.feature_levels, p.topics, p.last_activity_at,
  p.created_at, p.updated_at, n.traversal_ids as line,
  (select string_agg(a.name, ' / ' order by above.at)
    from unnest(n.traversal_ids) with ordinality above (id, at) join namespaces a on a.id = above.id) as line_name,
  n.id as namespace_id, n.kind as namespace_kind, n.name as namespace_name, n.path as namespace_path,
  n.full_path as namespace_full_path, n.parent_id as namespace_parent_id,
  (select ${basicUserJson('u')} from users u where u.id = n.owner_id) as owner,
  access.project_access, access.group_access, access.role,
  ${sharedWith('project', sql`p.id`, sql`access.role`)} as shared_with_groups`

export const projectJoins = sql`join namespaces n on n.id = p.namespace_id ${projectLevels}`
