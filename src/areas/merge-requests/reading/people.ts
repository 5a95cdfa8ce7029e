import { sql } from '../../../kernel/db/index.ts'
import { subjectRequestsReadable } from '../../../access/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'
import { basicUserJson, type BasicUserRow } from '../../users/index.ts'
import { commenters } from '../threads.ts'

/** Everybody who has to do with a request: who made it, whom it is given to, who was asked, who wrote on it. */
export function participants(iid: number): Read<{ readonly people: readonly BasicUserRow[] }> {
  return rows(sql`
    select coalesce((
      select json_agg(${basicUserJson('u')} order by u.id) from users u where u.id in (
        select m.author_id
        union select x.user_id from merge_request_assignees x where x.merge_request_id = m.id
        union select x.user_id from merge_request_reviewers x where x.merge_request_id = m.id
        union ${commenters})), '[]') as people
    from merge_requests m
    where m.project_id = subject.id and m.iid = ${iid} and ${subjectRequestsReadable}`)
}

export interface ReviewerRow {
  readonly user: BasicUserRow
  readonly state: string
  readonly created_at: string
}

export function reviewers(iid: number): Read<{ readonly reviewers: readonly ReviewerRow[] }> {
  return rows(sql`
    select coalesce((
      select json_agg(json_build_object('user', ${basicUserJson('u')}, 'state', x.state, 'created_at', x.created_at)
        order by x.created_at, x.user_id)
      from merge_request_reviewers x join users u on u.id = x.user_id where x.merge_request_id = m.id), '[]')
      as reviewers
    from merge_requests m
    where m.project_id = subject.id and m.iid = ${iid} and ${subjectRequestsReadable}`)
}
