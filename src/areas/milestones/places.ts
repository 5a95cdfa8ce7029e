import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { groupVisible, projectVisible, type group, type project } from '../../access/index.ts'
import type { AbilityOf, SubjectKind } from '../../kernel/endpoint/index.ts'
import { inGroup, inProject, type Place as PlaceOf, type PlaceKind } from '../noteables/index.ts'

/** Projects and groups have milestones, and what their endpoints ask for. */
export interface Place<Kind extends SubjectKind> extends PlaceOf<Kind> {
  readonly reading: AbilityOf<Kind>
  readonly writing: AbilityOf<Kind>
  readonly removing: AbilityOf<Kind>
}

const abilities = {
  reading: 'read_milestone',
  writing: 'admin_milestone',
  removing: 'destroy_milestone',
} as const

export const projectPlace: Place<typeof project> = {
  ...inProject,
  ...abilities,
  path: `${inProject.path}/milestones`,
}

export const groupPlace: Place<typeof group> = {
  ...inGroup,
  ...abilities,
  path: `${inGroup.path}/milestones`,
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
