import { sql } from '../../../kernel/db/index.ts'
import {
  epicVisible,
  group,
  issueVisible,
  may,
  project,
  projectSnippetVisible,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { planOf } from '../../../kernel/config/index.ts'
import { Id, Text } from '../../../kernel/endpoint/index.ts'
import type { Noteable, Place } from './noteable.ts'

const inProject =
  (check: (actor: Actor, of: ProjectSubject) => boolean) =>
  (actor: Actor, place: Place): boolean =>
    place.kind === 'project' && check(actor, place)

export const issueNoteable: Noteable = {
  kind: 'Issue',
  on: project,
  path: '/projects/:id/issues/:issue_iid',
  param: 'issue_iid',
  paramType: Id(),
  called: 'an issue',
  find: (iid) => sql`
    select i.id as target_id, i.iid, null::text as sha, i.author_id, coalesce(i.discussion_locked, false) as locked
    from issues i where i.project_id = subject.id and i.iid = ${iid} and ${issueVisible}`,
  mayRead: inProject((actor, of) => may(actor, 'read_issue', of)),
  resolvable: false,
  internal: true,
  answers: true,
  flat: true,
  diffs: false,
}

export const mergeRequestNoteable: Noteable = {
  kind: 'MergeRequest',
  on: project,
  path: '/projects/:id/merge_requests/:merge_request_iid',
  param: 'merge_request_iid',
  paramType: Id(),
  called: 'a merge request',
  find: (iid) => sql`
    select m.id as target_id, m.iid, null::text as sha, m.author_id, coalesce(m.discussion_locked, false) as locked
    from merge_requests m where m.project_id = subject.id and m.iid = ${iid}`,
  mayRead: inProject((actor, of) => may(actor, 'read_merge_request', of)),
  resolvable: true,
  internal: true,
  answers: true,
  flat: true,
  diffs: true,
}

/** Named by the id, unlike everywhere else. */
export const epicNoteable: Noteable = {
  kind: 'Epic',
  on: group,
  path: '/groups/:id/epics/:epic_id',
  param: 'epic_id',
  paramType: Id(),
  called: 'an epic',
  plan: planOf.epics,
  find: (id) => sql`
    select e.id as target_id, null::bigint as iid, null::text as sha, e.author_id, false as locked
    from epics e where e.id = ${id} and e.namespace_id = subject.id and ${epicVisible}`,
  mayRead: (actor, place) => place.kind === 'group' && may(actor, 'read_group', place),
  resolvable: false,
  internal: true,
  answers: true,
  flat: true,
  diffs: false,
}

/** As reactions name it. */
export const epicAwardable: Noteable = {
  ...epicNoteable,
  path: '/groups/:id/epics/:epic_iid',
  param: 'epic_iid',
  find: (iid) => sql`
    select e.id as target_id, null::bigint as iid, null::text as sha, e.author_id, false as locked
    from epics e where e.iid = ${iid} and e.namespace_id = subject.id and ${epicVisible}`,
}

export const snippetNoteable: Noteable = {
  kind: 'Snippet',
  on: project,
  path: '/projects/:id/snippets/:snippet_id',
  param: 'snippet_id',
  paramType: Id(),
  called: 'a snippet',
  find: (id) => sql`
    select s.id as target_id, null::bigint as iid, null::text as sha, s.author_id, false as locked
    from snippets s where s.id = ${id} and ${projectSnippetVisible}`,
  mayRead: inProject((actor, of) => may(actor, 'read_snippet', of)),
  resolvable: false,
  internal: false,
  answers: true,
  flat: true,
  diffs: false,
}

export const commitNoteable: Noteable = {
  kind: 'Commit',
  on: project,
  path: '/projects/:id/repository/commits/:commit_id',
  param: 'commit_id',
  paramType: Text(),
  called: 'a commit',
  find: (sha) => sql`
    select null::bigint as target_id, null::bigint as iid, ${sha}::text as sha, null::bigint as author_id,
      false as locked`,
  mayRead: inProject((actor, of) => may(actor, 'read_code', of)),
  resolvable: false,
  internal: false,
  answers: false,
  flat: false,
  diffs: true,
}

/** Everything that can be discussed. */
export const noteables: readonly Noteable[] = [
  issueNoteable,
  mergeRequestNoteable,
  epicNoteable,
  snippetNoteable,
  commitNoteable,
]

/** Everything that can be reacted to, besides notes. */
export const awardables: readonly Noteable[] = [
  issueNoteable,
  mergeRequestNoteable,
  epicAwardable,
  snippetNoteable,
]
