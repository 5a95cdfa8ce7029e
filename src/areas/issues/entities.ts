import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { labelDetails, LabelDetails, type LabelDetailsRow } from '../labels/index.ts'
import { milestone, Milestone, type MilestoneRow } from '../milestones/index.ts'
import { countTasks, writeDuration } from '../noteables/index.ts'
import type { Settings } from '../../settings/index.ts'
import { basicUser, BasicUser, type BasicUserRow } from '../users/index.ts'

export const issueTypes = ['issue', 'incident', 'test_case', 'task'] as const
export const healthStatuses = ['on_track', 'needs_attention', 'at_risk'] as const

export const TimeStats = Fields({
  time_estimate: Int({ description: 'Seconds' }),
  total_time_spent: Int({ description: 'Seconds' }),
  human_time_estimate: Nullable(Text()),
  human_total_time_spent: Nullable(Text()),
})

export const References = Fields({ short: Text(), relative: Text(), full: Text() })

const fields = {
  id: Id(),
  iid: Int(),
  project_id: Id(),
  title: Text(),
  description: Nullable(Text()),
  state: Text({ description: 'opened or closed' }),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  closed_at: Nullable(Timestamp()),
  closed_by: Nullable(BasicUser),
  labels: ListOf(Json(), { description: 'Names; with `with_labels_details` objects' }),
  milestone: Nullable(Milestone),
  assignees: ListOf(BasicUser),
  author: Nullable(BasicUser),
  type: Text(),
  assignee: Nullable(BasicUser),
  user_notes_count: Int(),
  merge_requests_count: Int({ description: 'Merge requests that close it when they are merged' }),
  upvotes: Int(),
  downvotes: Int(),
  due_date: Nullable(DateOnly()),
  confidential: Flag(),
  discussion_locked: Nullable(Flag()),
  issue_type: Text(),
  web_url: Text(),
  time_stats: TimeStats,
  task_completion_status: Fields({ count: Int(), completed_count: Int() }),
  weight: Nullable(Int()),
  blocking_issues_count: Int(),
  has_tasks: Flag(),
  task_status: Optional(Text()),
  _links: Fields({
    self: Text(),
    notes: Text(),
    award_emoji: Text(),
    project: Text(),
    closed_as_duplicate_of: Nullable(Text()),
  }),
  references: References,
  severity: Text(),
  subscribed: Optional(Flag()),
  moved_to_id: Nullable(Id()),
  imported: Flag(),
  imported_from: Text(),
  service_desk_reply_to: Nullable(Text()),
  epic_iid: Nullable(Int()),
  epic: Nullable(Fields({ id: Id(), iid: Int(), title: Text(), url: Text(), group_id: Id() })),
  iteration: Nullable(Json()),
  health_status: Nullable(Text()),
}

export const Issue = Fields(fields)

/** What `with_labels_details` shows of each label. */
export const IssueLabel = LabelDetails

export interface EpicOfIssue {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly group_id: number
  readonly full_path: string
}

export interface IssueRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly full_path: string
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly issue_type: (typeof issueTypes)[number]
  readonly confidential: boolean
  readonly discussion_locked: boolean | null
  readonly due_date: string | null
  readonly weight: number | null
  readonly health_status: (typeof healthStatuses)[number] | null
  readonly time_estimate: number
  readonly total_time_spent: number
  readonly user_notes_count: number
  readonly merge_requests_count: number
  readonly blocking_issues_count: number
  readonly upvotes: number
  readonly downvotes: number
  readonly moved_to_id: number | null
  readonly duplicate_of: { readonly project_id: number; readonly iid: number } | null
  readonly created_at: string
  readonly updated_at: string
  readonly closed_at: string | null
  readonly author_id: number | null
  readonly author: BasicUserRow | null
  readonly closed_by: BasicUserRow | null
  readonly assignees: readonly BasicUserRow[]
  readonly milestone: MilestoneRow | null
  readonly labels: readonly string[] | readonly LabelDetailsRow[]
  readonly epic: EpicOfIssue | null
  /** Of the reader; of a single issue only. */
  readonly subscribed?: boolean
}

export interface IssueView {
  readonly externalUrl: string
  /** Times are written in hours, without days and weeks. */
  readonly hoursOnly: boolean
  /** Full path of the project or group from which relative references lead; left out: from nowhere. */
  readonly from?: string | undefined
  readonly now?: Date
}

export interface ViewServices {
  readonly externalUrl: () => string
  readonly settings: Pick<Settings, 'values'>
}

/** `from`: see `IssueView`. */
export function issueView({ externalUrl, settings }: ViewServices, from?: string): IssueView {
  return { externalUrl: externalUrl(), hoursOnly: settings.values.time_tracking_limit_to_hours, from }
}

/** The path of a project as it is written in a reference from elsewhere. */
export function relativePath(fullPath: string, from: string | undefined): string {
  if (from === undefined) return fullPath
  if (fullPath === from) return ''
  return fullPath.startsWith(`${from}/`) ? fullPath.slice(from.length + 1) : fullPath
}

export function timeStats(
  { time_estimate, total_time_spent }: { readonly time_estimate: number; readonly total_time_spent: number },
  { hoursOnly }: Pick<IssueView, 'hoursOnly'>,
) {
  return {
    time_estimate,
    total_time_spent,
    human_time_estimate: writeDuration(time_estimate, { hoursOnly }),
    human_total_time_spent: writeDuration(total_time_spent, { hoursOnly }),
  }
}

export function issue(row: IssueRow, view: IssueView) {
  const { externalUrl, from, now = new Date() } = view
  const person = (user: BasicUserRow | null) => (user === null ? null : basicUser(user, externalUrl))
  const assignees = row.assignees.map((user) => basicUser(user, externalUrl))
  const api = `${externalUrl}/api/v4/projects`
  const self = `${api}/${row.project_id}/issues/${row.iid}`
  const tasks = countTasks(row.description)
  return {
    ...row,
    author: person(row.author),
    closed_by: person(row.closed_by),
    assignees,
    assignee: assignees[0] ?? null,
    labels: row.labels.map((label) => (typeof label === 'string' ? label : labelDetails(label))),
    milestone: row.milestone === null ? null : milestone(row.milestone, externalUrl, now),
    type: row.issue_type.toUpperCase(),
    web_url: `${externalUrl}/${row.full_path}/-/issues/${row.iid}`,
    time_stats: timeStats(row, view),
    task_completion_status: tasks,
    has_tasks: tasks.count > 0,
    ...(tasks.count > 0 && {
      task_status: `${tasks.completed_count} of ${tasks.count} checklist items completed`,
    }),
    _links: {
      self,
      notes: `${self}/notes`,
      award_emoji: `${self}/award_emoji`,
      project: `${api}/${row.project_id}`,
      closed_as_duplicate_of:
        row.duplicate_of === null
          ? null
          : `${api}/${row.duplicate_of.project_id}/issues/${row.duplicate_of.iid}`,
    },
    references: {
      short: `#${row.iid}`,
      relative: `${relativePath(row.full_path, from)}#${row.iid}`,
      full: `${row.full_path}#${row.iid}`,
    },
    severity: 'UNKNOWN',
    imported: false,
    imported_from: 'none',
    service_desk_reply_to: null,
    epic_iid: row.epic?.iid ?? null,
    epic:
      row.epic === null
        ? null
        : {
            id: row.epic.id,
            iid: row.epic.iid,
            title: row.epic.title,
            url: `/groups/${row.epic.full_path}/-/epics/${row.epic.iid}`,
            group_id: row.epic.group_id,
          },
    iteration: null,
  }
}
