import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { historyOf } from './read-history.ts'
import type { ProjectRecord, Records, RelationName } from './format.ts'

/** Records that are read at one time. */
const batch = 500

export async function readProject(db: Reader, id: number): Promise<ProjectRecord> {
  const { rows } = await sql<ProjectRecord>`
    select p.name, p.description, p.visibility, p.default_branch, p.topics from projects p where p.id = ${id}`.execute(
    db,
  )
  return rows[0]!
}

interface Source {
  readonly from: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  readonly record: RawBuilder<unknown>
}

/** What people said about something, and what the service told of it; but not that it was named elsewhere. */
const discussionsOf = (kind: 'Issue' | 'MergeRequest', id: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  coalesce((
    select json_agg(json_build_object('individual', d.individual, 'internal', d.internal, 'needs_code', d.needs_code,
      'position', d.position, 'original_position', d.original_position, 'change_position', d.change_position,
      'line_code', d.line_code, 'commit_id', d.commit_id, 'notes', (
        select json_agg(json_build_object('author', w.username, 'body', n.body, 'system', n.system,
          'action', n.action, 'created_at', n.created_at, 'updated_at', n.updated_at,
          'resolved_at', n.resolved_at, 'resolved_by', r.username) order by n.created_at, n.id)
        from notes n left join users w on w.id = n.author_id left join users r on r.id = n.resolved_by_id
        where n.discussion_id = d.id)) order by d.started_at, d.id)
    from noteables x join discussions d on d.noteable_id = x.id
    where x.kind = ${kind} and x.target_id = ${id} and d.ref_kind is null
      and exists (select from notes n where n.discussion_id = d.id)), '[]')`

const username = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select u.username from users u where u.id = ${id})`

/** Each with the condition on the project last, so that more may follow. */
function sourceOf(relation: RelationName, projectId: number): Source {
  switch (relation) {
    case 'labels':
      return {
        from: sql`from labels l where l.project_id = ${projectId}`,
        id: sql`l.id`,
        record: sql`json_build_object('title', l.title, 'description', l.description, 'color', l.color, 'priority',
          (select p.priority from label_priorities p where p.label_id = l.id and p.project_id = l.project_id))`,
      }
    case 'milestones':
      return {
        from: sql`from milestones m where m.project_id = ${projectId}`,
        id: sql`m.id`,
        record: sql`json_build_object('iid', m.iid, 'title', m.title, 'description', m.description, 'state', m.state,
          'start_date', m.start_date, 'due_date', m.due_date, 'created_at', m.created_at, 'updated_at', m.updated_at)`,
      }
    case 'issues':
      return {
        from: sql`from issues i where i.project_id = ${projectId}`,
        id: sql`i.id`,
        record: sql`json_build_object('iid', i.iid, 'title', i.title, 'description', i.description, 'state', i.state,
          'issue_type', i.issue_type, 'confidential', i.confidential, 'due_date', i.due_date, 'weight', i.weight,
          'time_estimate', i.time_estimate, 'created_at', i.created_at, 'updated_at', i.updated_at,
          'closed_at', i.closed_at,
          'author', ${username(sql`i.author_id`)},
          'milestone', (select m.iid from milestones m where m.id = i.milestone_id and m.project_id = i.project_id),
          'labels', coalesce((select json_agg(l.title order by l.title) from noteable_labels n
            join labels l on l.id = n.label_id and l.project_id = i.project_id
            where n.noteable_type = 'Issue' and n.noteable_id = i.id), '[]'),
          'assignees', coalesce((select json_agg(u.username order by u.username) from issue_assignees a
            join users u on u.id = a.user_id where a.issue_id = i.id), '[]'),
          'history', ${historyOf('Issue', { id: sql`i.id`, projectId })},
          'discussions', ${discussionsOf('Issue', sql`i.id`)})`,
      }
    case 'merge_requests':
      return {
        from: sql`from merge_requests r where r.project_id = ${projectId}`,
        id: sql`r.id`,
        record: sql`json_build_object('iid', r.iid, 'title', r.title, 'description', r.description,
          'state', case r.state when 'locked' then 'opened' else r.state end, 'source_branch', r.source_branch,
          'target_branch', r.target_branch, 'own_source', coalesce(r.source_project_id = r.project_id, false),
          'squash', r.squash, 'remove_source_branch', r.remove_source_branch,
          'allow_collaboration', r.allow_collaboration, 'discussion_locked', r.discussion_locked,
          'merge_commit_sha', r.merge_commit_sha, 'squash_commit_sha', r.squash_commit_sha,
          'merged_sha', r.merged_sha, 'time_estimate', r.time_estimate, 'created_at', r.created_at,
          'updated_at', r.updated_at, 'merged_at', r.merged_at, 'closed_at', r.closed_at,
          'author', ${username(sql`r.author_id`)}, 'merged_by', ${username(sql`r.merge_user_id`)},
          'closed_by', ${username(sql`r.closed_by_id`)},
          'milestone', (select m.iid from milestones m where m.id = r.milestone_id and m.project_id = r.project_id),
          'labels', coalesce((select json_agg(l.title order by l.title) from noteable_labels n
            join labels l on l.id = n.label_id and l.project_id = r.project_id
            where n.noteable_type = 'MergeRequest' and n.noteable_id = r.id), '[]'),
          'assignees', coalesce((select json_agg(u.username order by u.username) from merge_request_assignees a
            join users u on u.id = a.user_id where a.merge_request_id = r.id), '[]'),
          'reviewers', coalesce((select json_agg(json_build_object('username', u.username, 'state', a.state)
            order by u.username) from merge_request_reviewers a
            join users u on u.id = a.user_id where a.merge_request_id = r.id), '[]'),
          'approvals', coalesce((select json_agg(json_build_object('username', u.username, 'sha', a.sha,
            'created_at', a.created_at) order by u.username) from merge_request_approvals a
            join users u on u.id = a.user_id where a.merge_request_id = r.id), '[]'),
          'versions', coalesce((select json_agg(json_build_object('head', v.head_sha, 'start', v.start_sha,
            'created_at', v.created_at) order by v.id) from merge_request_versions v
            where v.merge_request_id = r.id), '[]'),
          'history', ${historyOf('MergeRequest', { id: sql`r.id`, projectId })},
          'discussions', ${discussionsOf('MergeRequest', sql`r.id`)})`,
      }
    case 'releases':
      return {
        from: sql`from releases r where r.project_id = ${projectId}`,
        id: sql`r.id`,
        record: sql`json_build_object('tag', r.tag, 'name', r.name, 'description', r.description, 'sha', r.sha,
          'author', ${username(sql`r.author_id`)}, 'created_at', r.created_at, 'released_at', r.released_at,
          'milestones', coalesce((select json_agg(m.iid order by m.iid) from release_milestones x
            join milestones m on m.id = x.milestone_id and m.project_id = r.project_id
            where x.release_id = r.id), '[]'),
          'links', coalesce((select json_agg(json_build_object('name', l.name, 'url', l.url, 'filepath', l.filepath,
            'link_type', l.link_type) order by l.id) from release_links l where l.release_id = r.id), '[]'))`,
      }
    case 'badges':
      return {
        from: sql`from badges b where b.project_id = ${projectId}`,
        id: sql`b.id`,
        record: sql`json_build_object('name', b.name, 'link_url', b.link_url, 'image_url', b.image_url)`,
      }
    case 'protected_tags':
      return {
        from: sql`from protected_tags t where t.project_id = ${projectId}`,
        id: sql`t.id`,
        record: sql`json_build_object('name', t.name, 'levels', coalesce((
          select json_agg(l.access_level order by l.id) from protected_tag_create_levels l
          where l.protected_tag_id = t.id and l.access_level is not null), '[]'))`,
      }
    case 'protected_branches':
      return {
        from: sql`from protected_branches b where b.project_id = ${projectId}`,
        id: sql`b.id`,
        record: sql`json_build_object('name', b.name, 'allow_force_push', b.allow_force_push,
          'code_owner_approval_required', b.code_owner_approval_required,
          'levels', coalesce((
            select json_agg(json_build_object('action', a.action, 'access_level', a.access_level) order by a.id)
            from protected_branch_access_levels a
            where a.protected_branch_id = b.id and a.access_level is not null), '[]'))`,
      }
  }
}

/** Records by their ids: behind one, and up to another one or to the end. */
export interface Range {
  readonly after: number
  readonly upTo?: number | undefined
}

/** The records of a relation, in the order they were made. */
export async function* readRelation<Name extends RelationName>(
  db: Reader,
  relation: Name,
  projectId: number,
  { after, upTo = Number.MAX_SAFE_INTEGER }: Range = { after: 0 },
): AsyncGenerator<Records[Name]> {
  const { from, id, record } = sourceOf(relation, projectId)
  for (let last = after; ;) {
    const { rows } = await sql<{ id: number; record: Records[Name] }>`
      select ${id} as id, ${record} as record ${from} and ${id} > ${last} and ${id} <= ${upTo}
      order by ${id} limit ${batch}`.execute(db)
    for (const row of rows) yield row.record
    if (rows.length < batch) return
    last = rows.at(-1)!.id
  }
}

/** Ids of the next records of a relation. */
export async function idsBehind(
  db: Reader,
  relation: RelationName,
  projectId: number,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const { from, id } = sourceOf(relation, projectId)
  const { rows } = await sql<{ id: number }>`
    select ${id} as id ${from} and ${id} > ${after} order by ${id} limit ${limit}`.execute(db)
  return rows.map((row) => row.id)
}
