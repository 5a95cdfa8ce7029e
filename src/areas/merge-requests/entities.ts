import {
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
import { labelDetails } from '../labels/index.ts'
import { milestone, Milestone } from '../milestones/index.ts'
import { PipelineDetail, PipelineReference } from '../pipelines/index.ts'
import { countTasks, writeDuration } from '../noteables/index.ts'
import { BasicUser, basicUser } from '../users/index.ts'
import { detailedMergeStatus, isChecked } from './merging/status.ts'
import type { MergeRequestRow } from './rows.ts'

export const TimeStats = Fields({
  time_estimate: Int({ description: 'Seconds' }),
  total_time_spent: Int({ description: 'Seconds' }),
  human_time_estimate: Nullable(Text()),
  human_total_time_spent: Nullable(Text()),
})

const References = Fields({ short: Text(), relative: Text(), full: Text() })

const beginning = {
  id: Id(),
  iid: Id({ description: 'Number within the project' }),
  project_id: Id(),
  title: Text(),
  description: Nullable(Text()),
  state: Text({ description: 'opened, closed, locked or merged' }),
  created_at: Timestamp(),
  updated_at: Timestamp(),
}

/** With `view=simple`. */
export const SimpleMergeRequest = Fields({ ...beginning, web_url: Text() })

const listFields = {
  ...beginning,
  title_html: Optional(Text()),
  description_html: Optional(Text()),
  merged_by: Nullable(BasicUser),
  merge_user: Nullable(BasicUser),
  merged_at: Nullable(Timestamp()),
  closed_by: Nullable(BasicUser),
  closed_at: Nullable(Timestamp()),
  target_branch: Text(),
  source_branch: Text(),
  user_notes_count: Int(),
  upvotes: Int(),
  downvotes: Int(),
  author: Nullable(BasicUser),
  assignees: ListOf(BasicUser),
  assignee: Nullable(BasicUser),
  reviewers: ListOf(BasicUser),
  source_project_id: Nullable(Id()),
  target_project_id: Id(),
  labels: ListOf(Json()),
  draft: Flag(),
  imported: Flag(),
  imported_from: Text(),
  work_in_progress: Flag(),
  milestone: Nullable(Milestone),
  merge_when_pipeline_succeeds: Flag(),
  merge_status: Text({ description: 'Use `detailed_merge_status`' }),
  detailed_merge_status: Text(),
  merge_after: Nullable(Timestamp()),
  sha: Text(),
  merge_commit_sha: Nullable(Text()),
  squash_commit_sha: Nullable(Text()),
  discussion_locked: Nullable(Flag()),
  should_remove_source_branch: Nullable(Flag()),
  force_remove_source_branch: Nullable(Flag()),
  prepared_at: Nullable(Timestamp()),
  allow_collaboration: Optional(Flag()),
  allow_maintainer_to_push: Optional(Flag()),
  reference: Text(),
  references: References,
  web_url: Text(),
  time_stats: TimeStats,
  squash: Flag(),
  squash_on_merge: Flag(),
  task_completion_status: Fields({ count: Int(), completed_count: Int() }),
  has_conflicts: Flag(),
  blocking_discussions_resolved: Flag(),
  approvals_before_merge: Optional(Nullable(Int())),
}

export const ListedMergeRequest = Fields(listFields)

export const DiffRefs = Fields({ base_sha: Nullable(Text()), head_sha: Text(), start_sha: Text() })

const detailFields = {
  ...listFields,
  subscribed: Flag(),
  changes_count: Nullable(Text({ description: '`1000+` where there are more' })),
  latest_build_started_at: Nullable(Timestamp()),
  latest_build_finished_at: Nullable(Timestamp()),
  first_deployed_to_production_at: Nullable(Timestamp()),
  pipeline: Nullable(PipelineReference),
  head_pipeline: Nullable(PipelineDetail),
  diff_refs: DiffRefs,
  merge_error: Nullable(Text()),
  rebase_in_progress: Optional(Flag()),
  diverged_commits_count: Optional(Int()),
  first_contribution: Optional(Flag()),
  user: Fields({ can_merge: Flag() }),
}

export const MergeRequest = Fields(detailFields)

export interface Surroundings {
  readonly externalUrl: string
  /** Times are written in hours, without days and weeks. */
  readonly hoursOnly: boolean
  readonly now: Date
  readonly paid: boolean
  /** Labels come as objects, not as names. */
  readonly labelDetails?: boolean
}

export function webUrl(row: { project_path: string; iid: number }, externalUrl: string): string {
  return `${externalUrl}/${row.project_path}/-/merge_requests/${row.iid}`
}

export function simpleMergeRequest(
  row: MergeRequestRow,
  { externalUrl }: Surroundings,
): Record<string, unknown> {
  return { ...row, web_url: webUrl(row, externalUrl) }
}

/** A merge request as lists show it. */
export function listedMergeRequest(row: MergeRequestRow, about: Surroundings): Record<string, unknown> {
  const { externalUrl, now, paid } = about
  const user = (of: MergeRequestRow['author']): unknown => (of === null ? null : basicUser(of, externalUrl))
  const assignees = row.assignees.map(user)
  const merged = row.state === 'merged'
  const fromFork = row.source_project_id !== row.project_id
  const mergeUser = merged || row.auto_merge ? user(row.merge_user) : null
  return {
    ...row,
    merged_by: merged ? user(row.merge_user) : null,
    merge_user: mergeUser,
    closed_by: user(row.closed_by),
    user_notes_count: row.comments,
    author: user(row.author),
    assignees,
    assignee: assignees[0] ?? null,
    reviewers: row.reviewers.map(user),
    target_project_id: row.project_id,
    labels: row.labels.map((label) => (about.labelDetails === true ? labelDetails(label) : label.name)),
    imported: false,
    imported_from: 'none',
    work_in_progress: row.draft,
    milestone: row.milestone && milestone(row.milestone, externalUrl, now),
    merge_when_pipeline_succeeds: row.auto_merge,
    merge_status: row.merge_status,
    detailed_merge_status: detailedMergeStatus(row, about),
    sha: row.head_sha,
    should_remove_source_branch: row.merge_params.should_remove_source_branch ?? null,
    force_remove_source_branch: row.remove_source_branch,
    ...(fromFork && {
      allow_collaboration: row.allow_collaboration,
      allow_maintainer_to_push: row.allow_collaboration,
    }),
    reference: `!${row.iid}`,
    references: {
      short: `!${row.iid}`,
      relative: `!${row.iid}`,
      full: `${row.project_path}!${row.iid}`,
    },
    web_url: webUrl(row, externalUrl),
    time_stats: timeStats(row, about),
    squash_on_merge: squashesOnMerge(row),
    task_completion_status: countTasks(row.description),
    has_conflicts: isChecked(row) && row.merge_status === 'cannot_be_merged',
    blocking_discussions_resolved: !row.unresolved_threads,
    approvals_before_merge: paid ? row.approvals_before_merge : undefined,
  }
}

export function timeStats(
  row: Pick<MergeRequestRow, 'time_estimate' | 'time_spent'>,
  { hoursOnly }: Pick<Surroundings, 'hoursOnly'>,
): unknown {
  return {
    time_estimate: row.time_estimate,
    total_time_spent: row.time_spent,
    human_time_estimate: writeDuration(row.time_estimate, { hoursOnly }),
    human_total_time_spent: writeDuration(row.time_spent, { hoursOnly }),
  }
}

/** What will be done unless the merge itself asks for something else: the project may always or never squash. */
export function squashesOnMerge({
  squash,
  project_settings: settings,
}: Pick<MergeRequestRow, 'squash' | 'project_settings'>): boolean {
  const option = settings['squash_option']
  return option === 'always' || (option !== 'never' && squash)
}
