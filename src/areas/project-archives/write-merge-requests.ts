import type { Actor, ProjectSubject } from '../../access/index.ts'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { noteClosing, type NewVersion } from '../merge-requests/index.ts'
import { spentIn } from './check-history.ts'
import type { MergeRequestRecord } from './format.ts'
import { signed, userNamed, type Target } from './target.ts'
import { madeOf, writeDiscussions } from './write-discussions.ts'
import { writeHistory } from './write-history.ts'
import { raise } from './write-project.ts'

export type ReadyVersion = NewVersion & { readonly created_at: string }

/** A request whose commits are there, and what they bring. */
export interface ReadyRequest extends Omit<MergeRequestRecord, 'versions'> {
  readonly versions: readonly ReadyVersion[]
  readonly latest: ReadyVersion
}

/** A request of an open one's branches, or of a number that there is, is left out. */
export async function writeMergeRequests(
  tx: Tx,
  { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
  target: Target,
  records: readonly ReadyRequest[],
): Promise<void> {
  if (records.length === 0) return
  const { projectId, importerId, asOthers } = target
  const rows = records.map(({ discussions: _, history, versions, latest, ...request }) => ({
    ...request,
    time_spent: spentIn(history),
    description: asOthers ? request.description : signed(request.description, request.author),
    ...{ head: latest.head, base: latest.base ?? null, start: latest.start },
    ...{ committers: latest.committerIds, unsigned: latest.unsigned },
    versions: versions.map((version) => ({
      ...{ head: version.head, base: version.base ?? null, start: version.start, state: version.state },
      ...{ size: version.size, count: version.commitsCount, commits: version.commits },
      ...{ patch: version.patchId ?? null, created_at: version.created_at },
    })),
  }))
  const own = sql`(${asOthers} or u.id = ${importerId})`
  const made = await sql<{ id: number; iid: number; state: string; description: string | null }>`
    with given as (
      select g.* from jsonb_to_recordset(${JSON.stringify(rows)}) g (iid bigint, title text, description text,
        state text, source_branch text, target_branch text, own_source boolean, squash boolean,
        remove_source_branch boolean, allow_collaboration boolean, discussion_locked boolean, merge_commit_sha text,
        squash_commit_sha text, merged_sha text, time_estimate integer, time_spent integer, created_at timestamptz,
        updated_at timestamptz, merged_at timestamptz, closed_at timestamptz, author text, merged_by text,
        closed_by text, milestone bigint, labels jsonb, assignees jsonb, reviewers jsonb, approvals jsonb,
        versions jsonb, head text, base text, start text, committers jsonb, unsigned boolean)
    ), made as (
      insert into merge_requests (iid, project_id, source_project_id, source_branch, target_branch, title, description,
        author_id, milestone_id, state, audience, head_sha, base_sha, start_sha, source_gone, squash,
        remove_source_branch, allow_collaboration, discussion_locked, merge_commit_sha, squash_commit_sha, merged_sha,
        merge_user_id, closed_by_id, time_estimate, time_spent, created_at, updated_at, prepared_at, merged_at, closed_at,
        committer_ids, unsigned_commits)
      select g.iid, p.id, case when g.own_source then p.id end, g.source_branch, g.target_branch, g.title,
        g.description, ${userNamed(target, sql`g.author`)},
        (select m.id from milestones m where m.project_id = p.id and m.iid = g.milestone), g.state,
        merge_request_audience(p.visibility, p.feature_levels), g.head, g.base, g.start, not g.own_source, g.squash,
        g.remove_source_branch, g.allow_collaboration, g.discussion_locked, g.merge_commit_sha, g.squash_commit_sha,
        g.merged_sha, case when g.merged_by is not null then ${userNamed(target, sql`g.merged_by`)} end,
        case when g.closed_by is not null then ${userNamed(target, sql`g.closed_by`)} end,
        g.time_estimate, g.time_spent, g.created_at, g.updated_at, g.created_at, g.merged_at, g.closed_at,
        array(select c::bigint from jsonb_array_elements_text(g.committers) c), g.unsigned
      from given g join projects p on p.id = ${projectId} order by g.iid
      on conflict do nothing returning id, iid, state, description
    ), versions as (
      insert into merge_request_versions (merge_request_id, head_sha, base_sha, start_sha, state, real_size,
        commits_count, commits, patch_id_sha, created_at)
      select m.id, v.head, v.base, v.start, v.state, v.size, v.count,
        array(select c from jsonb_array_elements_text(v.commits) with ordinality l (c, at) order by l.at), v.patch,
        v.created_at
      from made m join given g on g.iid = m.iid
      cross join lateral jsonb_array_elements(g.versions) with ordinality l (value, at)
      cross join lateral jsonb_to_record(l.value) v (head text, base text, start text, state text, size integer,
        count integer, commits jsonb, patch text, created_at timestamptz)
      order by m.id, l.at
    ), labelled as (
      insert into noteable_labels (noteable_type, noteable_id, label_id)
      select distinct 'MergeRequest', m.id, l.id from made m join given g on g.iid = m.iid,
        jsonb_array_elements_text(g.labels) as named (label)
        join labels l on l.project_id = ${projectId} and l.title = named.label
    ), assigned as (
      insert into merge_request_assignees (merge_request_id, user_id)
      select distinct m.id, u.id from made m join given g on g.iid = m.iid,
        jsonb_array_elements_text(g.assignees) as named (username)
        join users u on lower(u.username) = lower(named.username) where ${own}
    ), reviewing as (
      insert into merge_request_reviewers (merge_request_id, user_id, state)
      select distinct on (m.id, u.id) m.id, u.id, r ->> 'state' from made m join given g on g.iid = m.iid,
        jsonb_array_elements(g.reviewers) r join users u on lower(u.username) = lower(r ->> 'username') where ${own}
    ), approved as (
      insert into merge_request_approvals (merge_request_id, user_id, sha, created_at)
      select distinct on (m.id, u.id) m.id, u.id, a ->> 'sha', (a ->> 'created_at')::timestamptz
      from made m join given g on g.iid = m.iid,
        jsonb_array_elements(g.approvals) a join users u on lower(u.username) = lower(a ->> 'username') where ${own}
    )
    select m.id, m.iid, m.state, m.description from made m`.execute(tx)
  await sql`
    update merge_requests r set version_id = (
      select max(v.id) from merge_request_versions v where v.merge_request_id = r.id)
    where r.id = any (${made.rows.map(({ id }) => id)}::bigint[])`.execute(tx)
  const things = madeOf(made.rows, records)
  await writeHistory(
    tx,
    target,
    'MergeRequest',
    things.map(({ id, history }) => ({ id, history })),
  )
  await writeDiscussions(tx, target, 'MergeRequest', things)
  for (const { id, state, description } of made.rows) {
    if (state === 'opened') await noteClosing(tx, actor, project, id, description)
  }
  await raise(tx, target, 'merge_request', records)
}
