import { sql, type RawBuilder } from 'kysely'
import {
  featureOpen,
  group,
  groupVisible,
  issueVisible,
  issueVisibleAnywhere,
  memberProjects,
  project,
  projectVisible,
  Role,
  subjectRequestsReadable,
} from '../../access/index.ts'
import type { AbilityOf, SubjectKind, SubjectOf } from '../../kernel/endpoint/index.ts'

export type PlaceKind = 'project' | 'group'

/** Whose labels are meant. */
export interface Owner {
  readonly kind: PlaceKind
  readonly id: number
  /** Ids of the groups whose labels are known here, from the top one down. */
  readonly line: readonly number[]
}

/** Projects and groups have labels, and how their endpoints are declared. */
export interface Place<Kind extends SubjectKind> {
  readonly kind: PlaceKind
  readonly on: Kind
  readonly path: string
  /** As in `List the labels of a project`. */
  readonly called: string
  readonly reading: AbilityOf<Kind>
  readonly writing: AbilityOf<Kind>
  readonly owner: (call: { readonly [Name in Kind['name']]: SubjectOf<Kind> }) => Owner
}

export const projectPlace: Place<typeof project> = {
  kind: 'project',
  on: project,
  path: '/projects/:id/labels',
  called: 'a project',
  reading: 'read_label',
  writing: 'admin_label',
  owner: (call) => ({ kind: 'project', id: call.project.id, line: call.project.line }),
}

export const groupPlace: Place<typeof group> = {
  kind: 'group',
  on: group,
  path: '/groups/:id/labels',
  called: 'a group',
  reading: 'read_label',
  writing: 'admin_label',
  owner: (call) => ({ kind: 'group', id: call.group.id, line: call.group.line }),
}

export interface Reach {
  readonly include_ancestor_groups?: boolean
  readonly include_descendant_groups?: boolean
  readonly only_group_labels?: boolean
}

/** The condition on the labels `l` that are known in the place that the request is about. */
export function within(
  kind: PlaceKind,
  {
    include_ancestor_groups: above = true,
    include_descendant_groups: below = false,
    only_group_labels: only = true,
  }: Reach = {},
): RawBuilder<unknown> {
  if (kind === 'project') {
    return above
      ? sql`(l.project_id = subject.id or l.namespace_id = any (subject.line))`
      : sql`l.project_id = subject.id`
  }
  const groups = [above ? sql`l.namespace_id = any (subject.line)` : sql`l.namespace_id = subject.id`]
  if (below) {
    groups.push(sql`l.namespace_id in (
      select n.id from namespaces n where n.traversal_ids @> array[subject.id] and ${groupVisible})`)
  }
  if (!only) {
    groups.push(sql`l.project_id in (
      select p.id from projects p join namespaces n on n.id = p.namespace_id
      where n.traversal_ids @> array[subject.id] and (${below} or n.id = subject.id) and ${projectVisible})`)
  }
  return sql`(${sql.join(groups, sql` or `)})`
}

/** The issues with label `l` that the caller may see in the place, joined as `i` to `noteable_labels x`. */
export function issuesOf(kind: PlaceKind): RawBuilder<unknown> {
  return kind === 'project'
    ? sql`join issues i on i.id = x.noteable_id and i.project_id = subject.id and ${issueVisible}`
    : sql`
        join issues i on i.id = x.noteable_id join projects p on p.id = i.project_id
        join namespaces n on n.id = p.namespace_id and n.traversal_ids @> array[subject.id] and ${issueVisibleAnywhere}`
}

/** The merge requests with label `l` that the caller may see in the place, joined as `m` to `noteable_labels x`. */
export function requestsOf(kind: PlaceKind): RawBuilder<unknown> {
  if (kind === 'project') {
    return sql`
      join merge_requests m on m.id = x.noteable_id and m.project_id = subject.id and ${subjectRequestsReadable}`
  }
  const open = featureOpen('merge_requests', sql`p.feature_levels`, sql`p.id in (${memberProjects()})`)
  return sql`
    join merge_requests m on m.id = x.noteable_id join projects p on p.id = m.project_id
    join namespaces n on n.id = p.namespace_id and n.traversal_ids @> array[subject.id] and ${projectVisible}
      and ${open} and (p.visibility > 0 or actor.admin or p.id in (${memberProjects(Role.planner)}))`
}
