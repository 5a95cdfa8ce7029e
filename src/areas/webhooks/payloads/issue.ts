import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../../kernel/db/index.ts'
import { writeDuration } from '../../noteables/index.ts'
import {
  hookTime,
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

export interface LabelRow {
  readonly id: number
  readonly title: string
  readonly color: string
  readonly project_id: number | null
  readonly group_id: number | null
  readonly description: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** The labels of a noteable as JSON. */
export const labelsOf = (
  type: 'Issue' | 'MergeRequest',
  id: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`coalesce((
  select json_agg(json_build_object('id', l.id, 'title', l.title, 'color', l.color, 'project_id', l.project_id,
    'group_id', l.namespace_id, 'description', l.description, 'created_at', l.created_at, 'updated_at', l.updated_at)
    order by l.title)
  from noteable_labels nl join labels l on l.id = nl.label_id
  where nl.noteable_type = ${type} and nl.noteable_id = ${id}), '[]'::json)`

export const shownLabel = ({ created_at, updated_at, ...label }: LabelRow): object => ({
  ...label,
  created_at: hookTime(created_at),
  updated_at: hookTime(updated_at),
  template: false,
  type: label.project_id === null ? 'GroupLabel' : 'ProjectLabel',
})

export interface IssueRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly issue_type: string
  readonly confidential: boolean
  readonly discussion_locked: boolean | null
  readonly due_date: string | null
  readonly weight: number | null
  readonly health_status: string | null
  readonly milestone_id: number | null
  readonly moved_to_id: number | null
  readonly duplicated_to_id: number | null
  readonly relative_position: number | null
  readonly author_id: number | null
  readonly last_edited_at: string | null
  readonly last_edited_by_id: number | null
  readonly time_estimate: number
  readonly total_time_spent: number
  readonly created_at: string
  readonly updated_at: string
  readonly closed_at: string | null
  readonly assignees: readonly UserRow[]
  readonly labels: readonly LabelRow[]
}

export async function issueOf(db: Reader, id: number): Promise<IssueRow | undefined> {
  const { rows } = await sql<{ row: IssueRow }>`
    select to_json(r) as row from (
      select i.*, ${labelsOf('Issue', sql`i.id`)} as labels, coalesce((
        select json_agg(${userJson} order by u.id) from issue_assignees a join users u on u.id = a.user_id
        where a.issue_id = i.id), '[]'::json) as assignees
      from issues i where i.id = ${id}) r`.execute(db)
  return rows[0]?.row
}

const typeNames: Readonly<Record<string, string>> = {
  issue: 'Issue',
  incident: 'Incident',
  test_case: 'Test case',
  task: 'Task',
}

export function issueAttributes(row: IssueRow, services: PayloadServices, project: ProjectRow): object {
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state,
    state_id: row.state === 'closed' ? 2 : 1,
    type: typeNames[row.issue_type] ?? 'Issue',
    author_id: row.author_id,
    assignee_ids: row.assignees.map(({ id }) => id),
    assignee_id: row.assignees[0]?.id ?? null,
    milestone_id: row.milestone_id,
    confidential: row.confidential,
    discussion_locked: row.discussion_locked,
    due_date: row.due_date,
    weight: row.weight,
    health_status: row.health_status,
    severity: 'unknown',
    moved_to_id: row.moved_to_id,
    duplicated_to_id: row.duplicated_to_id,
    relative_position: row.relative_position,
    time_estimate: row.time_estimate,
    total_time_spent: row.total_time_spent,
    human_time_estimate: writeDuration(row.time_estimate),
    human_total_time_spent: writeDuration(row.total_time_spent),
    created_at: hookTime(row.created_at),
    updated_at: hookTime(row.updated_at),
    closed_at: hookTime(row.closed_at),
    last_edited_at: hookTime(row.last_edited_at),
    last_edited_by_id: row.last_edited_by_id,
    url: `${webUrl(services, project)}/-/issues/${row.iid}`,
    labels: row.labels.map(shownLabel),
  }
}

interface IssueEvent {
  readonly action: 'open' | 'close' | 'reopen' | 'update' | 'delete'
  readonly issue_id: number
  readonly was?: Readonly<Record<string, unknown>>
  readonly now?: Readonly<Record<string, unknown>>
  readonly assignees?: { readonly was: readonly number[]; readonly now: readonly number[] }
}

/** Of an issue that was opened, changed, closed or reopened; its deletion calls nobody. */
export const buildIssue: Builder<IssueEvent> = async (services, event) => {
  const { action, issue_id, was = {}, now = {}, assignees } = event.payload
  const scene = await sceneOf(services.db.reader, event)
  const row = action === 'delete' ? undefined : await issueOf(services.db.reader, issue_id)
  if (scene === undefined || row === undefined) return []
  const { project, user } = scene
  const changes = Object.fromEntries(
    Object.keys(now).map((key) => [key, { previous: was[key] ?? null, current: now[key] ?? null }]),
  )
  const payload = {
    object_kind: 'issue',
    event_type: row.confidential ? 'confidential_issue' : 'issue',
    user: shownUser(user),
    project: shownProject(services, project),
    object_attributes: { ...issueAttributes(row, services, project), action },
    repository: shownRepository(services, project),
    labels: row.labels.map(shownLabel),
    assignees: row.assignees.map(shownUser),
    assignee: shownUser(row.assignees[0] ?? null),
    changes: {
      ...changes,
      ...(assignees !== undefined && { assignee_ids: { previous: assignees.was, current: assignees.now } }),
    },
  }
  return [{ trigger: row.confidential ? 'confidential_issues' : 'issues', payload }]
}
