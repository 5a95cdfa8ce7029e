import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { epicVisibleAnywhere, issueVisibleAnywhere } from '../../access/index.ts'
import { labelRows, labelTitles } from '../labels/index.ts'
import { milestoneJson } from '../milestones/index.ts'
import { subscribedTo } from '../noteables/index.ts'
import { basicUserJson } from '../users/index.ts'

function person(id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(select ${basicUserJson('u')} from users u where u.id = ${id})`
}

/** Another issue, of which the caller hears only if he may see it. */
function otherIssue(id: RawBuilder<unknown>, columns: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select ${columns} from issues i join projects p on p.id = i.project_id where i.id = ${id} and ${issueVisibleAnywhere})`
}

/** Of issue `i` in project `p` for the caller `actor`: an `IssueRow`. */
export function issueColumns({
  details = false,
}: { readonly details?: boolean | undefined } = {}): RawBuilder<unknown> {
  return sql`
    i.id, i.iid, i.project_id, p.full_path, i.title, i.description, i.state, i.issue_type, i.confidential,
    i.discussion_locked, i.due_date, i.weight, i.health_status, i.time_estimate, i.total_time_spent,
    i.user_notes_count, i.upvotes, i.downvotes, i.created_at, i.updated_at, i.closed_at, i.author_id,
    ${otherIssue(sql`o.moved_to_id`, sql`i.id`)} as moved_to_id,
    ${otherIssue(sql`o.duplicated_to_id`, sql`json_build_object('project_id', i.project_id, 'iid', i.iid)`)} as duplicate_of,
    (select count(*) from issue_links k where k.source_id = o.id and k.link_type = 'blocks'
      and ${otherIssue(sql`k.target_id`, sql`i.state = 'opened'`)}) as blocking_issues_count,
    (select count(*) from merge_requests_closing_issues k where k.issue_id = i.id) as merge_requests_count,
    ${person(sql`i.author_id`)} as author, ${person(sql`i.closed_by_id`)} as closed_by,
    coalesce((
      select json_agg(${basicUserJson('u')} order by u.id)
      from issue_assignees a join users u on u.id = a.user_id where a.issue_id = i.id), '[]'::json) as assignees,
    ${milestoneJson(sql`i.milestone_id`)} as milestone,
    ${details ? labelRows('Issue', sql`i.id`) : labelTitles('Issue', sql`i.id`)} as labels,
    (select json_build_object('id', e.id, 'iid', e.iid, 'title', e.title, 'group_id', n.id, 'full_path', n.full_path)
      from epics e join namespaces n on n.id = e.namespace_id
      where e.id = i.epic_id and ${epicVisibleAnywhere}) as epic`
}

/** The rows that `issueColumns` needs. */
export const issueSource = sql`issues i join projects p on p.id = i.project_id cross join lateral (select i.*) o`

export const takesPart = sql`(
  i.author_id = actor.id
  or exists (select from issue_assignees a where a.issue_id = i.id and a.user_id = actor.id))`

export const isSubscribed = subscribedTo('Issue', sql`i.id`, takesPart)
