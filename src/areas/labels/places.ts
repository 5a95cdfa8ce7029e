import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  featureOpen,
  type group,
  groupVisible,
  issueVisible,
  issueVisibleAnywhere,
  memberProjects,
  type project,
  projectVisible,
  Role,
  subjectRequestsReadable,
} from '../../access/index.ts'
import type { AbilityOf, SubjectKind } from '../../kernel/endpoint/index.ts'
import { inGroup, inProject, type Place as PlaceOf, type PlaceKind } from '../noteables/index.ts'

/** Projects and groups have labels, and what their endpoints ask for. */
export interface Place<Kind extends SubjectKind> extends PlaceOf<Kind> {
  readonly reading: AbilityOf<Kind>
  readonly writing: AbilityOf<Kind>
}

const abilities = { reading: 'read_label', writing: 'admin_label' } as const

export const projectPlace: Place<typeof project> = {
  ...inProject,
  ...abilities,
  path: `${inProject.path}/labels`,
}

export const groupPlace: Place<typeof group> = { ...inGroup, ...abilities, path: `${inGroup.path}/labels` }

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
