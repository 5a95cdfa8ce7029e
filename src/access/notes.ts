import { sql } from 'kysely'
import { Role } from './levels.ts'
import { requestReadable } from './merge-requests.ts'
import { epicVisibleAnywhere, featureOpen, issueVisibleAnywhere } from './noteables.ts'
import { snippetOpen } from './snippets.ts'
import { memberProjects, projectVisible } from './visible.ts'

/*
 * Which discussions `d` of a noteable that the caller reads he sees, as SQL beside `actor`, `subject` and `membership`.
 */

/** Whether the caller reads internal notes of the subject. */
export const readsInternalNotes = sql`(actor.admin or membership.role >= ${sql.lit(Role.planner)})`

/** Code of project `p`: commits of private ones are not for Guests. */
const codeReadable = sql`(
  ${projectVisible} and ${featureOpen('repository', sql`p.feature_levels`, sql`p.id in (${memberProjects(Role.reporter)})`)}
  and (p.visibility > 0 or actor.admin or p.id in (${memberProjects(Role.planner)})))`

/** What mentioned the noteable must be readable itself. */
const referenceVisible = sql`(
  d.ref_kind is null
  or case d.ref_kind
    when 'Issue' then exists (
      select from issues i join projects p on p.id = i.project_id where i.id = d.ref_id and ${issueVisibleAnywhere})
    when 'Epic' then exists (
      select from epics e join namespaces n on n.id = e.namespace_id where e.id = d.ref_id and ${epicVisibleAnywhere})
    when 'MergeRequest' then exists (
      select from merge_requests m join projects p on p.id = m.project_id
      where m.id = d.ref_id and ${projectVisible} and ${requestReadable})
    when 'Commit' then exists (select from projects p where p.id = d.ref_project_id and ${codeReadable})
    else exists (
      select from snippets s join projects p on p.id = s.project_id
      where s.id = d.ref_id and ${projectVisible}
        and ${featureOpen('snippets', sql`p.feature_levels`, sql`p.id in (${memberProjects()})`)}
        and (${snippetOpen} or p.id in (${memberProjects()}))) end)`

/** Of projects: Guests of private ones do not read code. */
const codeVisible = sql`(
  not d.needs_code or actor.admin or membership.role >= ${sql.lit(Role.planner)}
  or coalesce((to_jsonb(subject) ->> 'visibility')::int, 0) > 0)`

export const openDiscussion = sql`(${referenceVisible} and ${codeVisible})`
export const discussionVisible = sql`((not d.internal or ${readsInternalNotes}) and ${openDiscussion})`
