import { sql, type Reader } from '../../../kernel/db/index.ts'
import type { MergeRequestEvent } from '../../merge-requests/index.ts'
import { pushedSha } from '../../pipelines/index.ts'
import { commitOf } from './commits.ts'
import { labelsOf, shownLabel, type LabelRow } from './issue.ts'
import {
  hookTime,
  projectOf,
  sceneOf,
  shownProject,
  shownRepository,
  shownUser,
  userJson,
  webUrl,
  type Builder,
  type PayloadServices,
  type ProjectRow,
  type UserRow,
} from './parts.ts'

export interface MergeRequestRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly storage: string
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly draft: boolean
  readonly source_branch: string
  readonly target_branch: string
  readonly source_project_id: number | null
  readonly author_id: number | null
  readonly milestone_id: number | null
  readonly merge_status: string
  readonly merge_commit_sha: string | null
  readonly squash_commit_sha: string | null
  readonly merge_user_id: number | null
  readonly merge_params: object
  readonly merge_error: string | null
  readonly auto_merge: boolean
  readonly head_sha: string
  readonly head_pipeline_id: number | null
  readonly open_threads: boolean
  readonly time_estimate: number
  readonly time_spent: number
  readonly created_at: string
  readonly updated_at: string
  readonly prepared_at: string | null
  readonly source: ProjectRow | null
  readonly assignees: readonly UserRow[]
  readonly reviewers: readonly UserRow[]
  readonly labels: readonly LabelRow[]
}

export async function mergeRequestOf(db: Reader, id: number): Promise<MergeRequestRow | undefined> {
  const people = (table: string) => sql`coalesce((
    select json_agg(${userJson} order by u.id) from ${sql.table(table)} a join users u on u.id = a.user_id
    where a.merge_request_id = m.id), '[]'::json)`
  const { rows } = await sql<{ row: MergeRequestRow }>`
    select to_json(r) as row from (
      select m.*, p.storage, ${projectOf(sql`m.source_project_id`)} as source,
        ${people('merge_request_assignees')} as assignees, ${people('merge_request_reviewers')} as reviewers,
        ${labelsOf('MergeRequest', sql`m.id`)} as labels,
        (select c.id from ci_pipelines c where c.merge_request_id = m.id and ${pushedSha('c')} = m.head_sha
          and c.source <> 'parent_pipeline' order by c.id desc limit 1) as head_pipeline_id,
        exists (select from noteables nb join discussions d on d.noteable_id = nb.id join notes t on t.discussion_id = d.id
          where nb.kind = 'MergeRequest' and nb.target_id = m.id and t.resolvable and t.resolved_at is null)
          as open_threads
      from merge_requests m join projects p on p.id = m.project_id where m.id = ${id}) r`.execute(db)
  return rows[0]?.row
}

export async function mergeRequestAttributes(
  row: MergeRequestRow,
  services: PayloadServices,
  project: ProjectRow,
): Promise<object> {
  const web = webUrl(services, project)
  const repository = services.places.of({ id: row.project_id, storage: row.storage })
  return {
    id: row.id,
    iid: row.iid,
    title: row.title,
    description: row.description,
    state: row.state,
    state_id: { opened: 1, closed: 2, merged: 3, locked: 4 }[row.state] ?? 1,
    draft: row.draft,
    work_in_progress: row.draft,
    source_branch: row.source_branch,
    target_branch: row.target_branch,
    source_project_id: row.source_project_id,
    target_project_id: row.project_id,
    author_id: row.author_id,
    assignee_ids: row.assignees.map(({ id }) => id),
    assignee_id: row.assignees[0]?.id ?? null,
    reviewer_ids: row.reviewers.map(({ id }) => id),
    milestone_id: row.milestone_id,
    merge_status: row.merge_status,
    detailed_merge_status: row.state === 'opened' ? row.merge_status : 'not_open',
    merge_commit_sha: row.merge_commit_sha,
    squash_commit_sha: row.squash_commit_sha,
    merge_user_id: row.merge_user_id,
    merge_params: row.merge_params,
    merge_error: row.merge_error,
    merge_when_pipeline_succeeds: row.auto_merge,
    head_pipeline_id: row.head_pipeline_id,
    blocking_discussions_resolved: !row.open_threads,
    first_contribution: false,
    time_estimate: row.time_estimate,
    total_time_spent: row.time_spent,
    created_at: hookTime(row.created_at),
    updated_at: hookTime(row.updated_at),
    prepared_at: hookTime(row.prepared_at),
    last_commit: await commitOf(repository, row.head_sha, web),
    source: row.source === null ? null : shownProject(services, row.source),
    target: shownProject(services, project),
    labels: row.labels.map(shownLabel),
    url: `${web}/-/merge_requests/${row.iid}`,
  }
}

/** Names of the wire for what happened; the rest is an update. */
const actions: Readonly<Partial<Record<MergeRequestEvent['action'], string>>> = {
  open: 'open',
  close: 'close',
  reopen: 'reopen',
  merge: 'merge',
  approved: 'approved',
  unapproved: 'unapproved',
}

export const buildMergeRequest: Builder<MergeRequestEvent> = async (services, event) => {
  const { mergeRequestId, action, changes, oldHead } = event.payload
  const scene = await sceneOf(services.db.reader, event)
  const row = await mergeRequestOf(services.db.reader, mergeRequestId)
  if (scene === undefined || row === undefined) return []
  const { project, user } = scene
  const payload = {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    user: shownUser(user),
    project: shownProject(services, project),
    object_attributes: {
      ...(await mergeRequestAttributes(row, services, project)),
      action: actions[action] ?? 'update',
      ...(oldHead !== undefined && { oldrev: oldHead }),
    },
    labels: row.labels.map(shownLabel),
    changes: Object.fromEntries(
      Object.entries(changes).map(([key, { from, to }]) => [key, { previous: from, current: to }]),
    ),
    repository: shownRepository(services, project),
    assignees: row.assignees.map(shownUser),
    reviewers: row.reviewers.map(shownUser),
  }
  return [{ trigger: 'merge_requests', payload }]
}
