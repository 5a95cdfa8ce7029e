import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
import { Role } from './levels.ts'
import { epicVisibleAnywhere, featureOpen, issueVisibleAnywhere } from './noteables.ts'
import { groupVisible, memberGroups, memberProjects, projectVisible } from './visible.ts'

/** Something that is discussed, as those are found who read it. */
export interface Readable {
  readonly kind: 'Issue' | 'MergeRequest' | 'Epic' | 'Snippet' | 'Commit'
  readonly id: RawBuilder<unknown>
  /** Of the project; null for epics. */
  readonly projectId: RawBuilder<unknown>
  readonly namespaceId: RawBuilder<unknown>
}

const member = (level: number): RawBuilder<unknown> => sql`p.id in (${memberProjects(level)})`

/** Code and merge requests: in private projects not for Guests. */
const codeFeature = (feature: 'repository' | 'merge_requests'): RawBuilder<unknown> => sql`(
  ${projectVisible} and ${featureOpen(feature, sql`p.feature_levels`, member(Role.guest))}
  and (p.visibility > 0 or actor.admin or ${member(Role.planner)}))`

const inProject = ({ projectId }: Readable, condition: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`exists (select from projects p where p.id = ${projectId} and ${condition})`

/** Whether `actor`, one of many users (their row under this name), reads it. */
export function readsNoteable(what: Readable): RawBuilder<unknown> {
  switch (what.kind) {
    case 'Issue':
      return sql`exists (
        select from issues i join projects p on p.id = i.project_id where i.id = ${what.id} and ${issueVisibleAnywhere})`
    case 'Epic':
      return sql`exists (
        select from epics e join namespaces n on n.id = e.namespace_id where e.id = ${what.id} and ${epicVisibleAnywhere})`
    case 'MergeRequest':
      return inProject(what, codeFeature('merge_requests'))
    case 'Commit':
      return inProject(what, codeFeature('repository'))
    case 'Snippet':
      return sql`exists (
        select from snippets s join projects p on p.id = s.project_id
        where s.id = ${what.id} and ${projectVisible}
          and ${featureOpen('snippets', sql`p.feature_levels`, member(Role.guest))}
          and (s.visibility = 20 or s.author_id = actor.id or actor.admin or ${member(Role.guest)}
            or (s.visibility = 10 and not actor.external)))`
  }
}

/** Whether `actor` reads the pages of the project's wiki. */
export function readsWiki(projectId: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`exists (
    select from projects p where p.id = ${projectId} and ${projectVisible}
      and ${featureOpen('wiki', sql`p.feature_levels`, member(Role.guest))})`
}

/** Whether `actor` reads internal notes in the place. */
export function readsInternalNotesOf({
  projectId,
  namespaceId,
}: Pick<Readable, 'projectId' | 'namespaceId'>): RawBuilder<unknown> {
  return sql`(
    actor.admin or ${projectId} in (${memberProjects(Role.planner)})
    or ${namespaceId} in (${memberGroups(Role.planner)}))`
}

/** Whether `actor` sees the project or group. */
export const placeVisible = {
  project: (id: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`exists (select from projects p where p.id = ${id} and ${projectVisible})`,
  group: (id: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`exists (select from namespaces n where n.id = ${id} and ${groupVisible})`,
}
