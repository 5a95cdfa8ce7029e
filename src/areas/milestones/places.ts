import { sql, type RawBuilder } from 'kysely'
import { group, groupVisible, project, projectVisible } from '../../access/index.ts'
import type { AbilityOf, SubjectKind, SubjectOf } from '../../kernel/endpoint/index.ts'

export type PlaceKind = 'project' | 'group'

/** Whose milestones are meant. */
export interface Owner {
  readonly kind: PlaceKind
  readonly id: number
  /** Ids of the groups above, and of the group itself, from the top one down. */
  readonly line: readonly number[]
}

/** Projects and groups have milestones, and how their endpoints are declared. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: PlaceKind
  readonly on: Kind
  readonly path: string
  /** As in `List the milestones of a project`. */
  readonly called: string
  readonly reading: AbilityOf<Kind>
  readonly writing: AbilityOf<Kind>
  readonly removing: AbilityOf<Kind>
  readonly owner: (call: { readonly [Name in Kind['name']]: SubjectOf<Kind> }) => Owner
}

export const projectPlace: Place<typeof project> = {
  kind: 'project',
  on: project,
  path: '/projects/:id/milestones',
  called: 'a project',
  reading: 'read_milestone',
  writing: 'admin_milestone',
  removing: 'destroy_milestone',
  owner: (call) => ({ kind: 'project', id: call.project.id, line: call.project.line }),
}

export const groupPlace: Place<typeof group> = {
  kind: 'group',
  on: group,
  path: '/groups/:id/milestones',
  called: 'a group',
  reading: 'read_milestone',
  writing: 'admin_milestone',
  removing: 'destroy_milestone',
  owner: (call) => ({ kind: 'group', id: call.group.id, line: call.group.line }),
}

/** The condition on the milestones `m` of the place that the request is about. */
export function within(
  kind: PlaceKind,
  { above = false, below = false }: { readonly above?: boolean; readonly below?: boolean } = {},
): RawBuilder<unknown> {
  if (kind === 'project') {
    return above
      ? sql`(m.project_id = subject.id or m.namespace_id = any (subject.line))`
      : sql`m.project_id = subject.id`
  }
  const parts = [above ? sql`m.namespace_id = any (subject.line)` : sql`m.namespace_id = subject.id`]
  if (below) {
    parts.push(
      sql`m.namespace_id in (
        select n.id from namespaces n where n.traversal_ids @> array[subject.id] and ${groupVisible})`,
      sql`m.project_id in (
        select p.id from projects p join namespaces n on n.id = p.namespace_id
        where n.traversal_ids @> array[subject.id] and ${projectVisible})`,
    )
  }
  return sql`(${sql.join(parts, sql` or `)})`
}
