import type { RawBuilder } from 'kysely'
import { sql } from '../../../kernel/db/index.ts'
import { endpoint, issueVisible, project } from '../../../access/index.ts'
import { Fields, Id, ListOf, type Endpoint, type SubjectKind } from '../../../kernel/endpoint/index.ts'
import { visibleIssueId } from '../../issues/index.ts'
import { groupPlace, projectPlace, requireMilestone, type Place } from '../../milestones/index.ts'
import { ListedMergeRequest, listedMergeRequest } from '../entities.ts'
import { picked } from '../reading/listing.ts'
import type { MergeRequestServices } from '../services.ts'
import { surroundings } from '../show.ts'

/** Merge requests as what is planned knows them: those of a milestone, and those that an issue waits for. */
export function planningEndpoints(services: MergeRequestServices): Endpoint[] {
  return [
    ofMilestones(services, projectPlace),
    ofMilestones(services, groupPlace),
    ofIssue(
      services,
      'related_merge_requests',
      'List the merge requests that speak of an issue, or close it',
      sql`
        select d.ref_id from noteables nb join discussions d on d.noteable_id = nb.id
        where nb.kind = 'Issue' and nb.target_id = found.id and d.ref_kind = 'MergeRequest'
        union ${closing}`,
    ),
    ofIssue(
      services,
      'closed_by',
      'List the merge requests that close an issue when they are merged',
      closing,
    ),
  ]
}

const closing = sql`select k.merge_request_id from merge_requests_closing_issues k where k.issue_id = found.id`

function ofMilestones<Kind extends SubjectKind>(
  services: MergeRequestServices,
  { on, path, called, reading, owner }: Place<Kind>,
): Endpoint {
  return endpoint({
    method: 'GET',
    path: `${path}/:milestone_id/merge_requests`,
    summary: `List the merge requests of a milestone of ${called}`,
    on,
    may: reading,
    anonymous: true,
    paged: true,
    params: Fields({ milestone_id: Id() }),
    answers: ListOf(ListedMergeRequest),
    refuses: { 404: `No such milestone of ${called}` },
    read: ({ params, page }) => picked(sql`m.milestone_id = ${params.milestone_id}`, page),
    async handle(call) {
      await requireMilestone(services.db.reader, owner(call), call.params.milestone_id)
      const about = { ...surroundings(services), labelDetails: false }
      return call.rows.map((row) => listedMergeRequest(row, about))
    },
  })
}

/** `requests`: ids of merge requests, of the issue `found`. */
function ofIssue(
  services: MergeRequestServices,
  path: string,
  summary: string,
  requests: RawBuilder<unknown>,
): Endpoint {
  return endpoint({
    method: 'GET',
    path: `/projects/:id/issues/:issue_iid/${path}`,
    summary,
    on: project,
    may: 'read_issue',
    anonymous: true,
    paged: true,
    params: Fields({ issue_iid: Id() }),
    answers: ListOf(ListedMergeRequest),
    refuses: { 404: 'No such issue that the caller may see: `404 Not found`' },
    read: ({ params, page }) =>
      picked(
        sql`m.id in (
          select listed.id from (
            select i.id from issues i
            where i.project_id = subject.id and i.iid = ${params.issue_iid} and ${issueVisible}) found
          cross join lateral (${requests}) listed (id))`,
        page,
      ),
    async handle({ actor, project: { id }, params, rows, page }) {
      if (rows.length === 0 && page.page === 1)
        await visibleIssueId(services.db.reader, actor, id, params.issue_iid)
      const about = { ...surroundings(services), labelDetails: false }
      return rows.map((row) => listedMergeRequest(row, about))
    },
  })
}
