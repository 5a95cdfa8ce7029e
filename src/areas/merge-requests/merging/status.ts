import type { MergeRequestRow } from '../rows.ts'

/** What keeps a merge request from being merged, or `mergeable`. */
export type DetailedMergeStatus =
  | 'preparing'
  | 'checking'
  | 'unchecked'
  | 'requested_changes'
  | 'not_approved'
  | 'not_open'
  | 'merge_time'
  | 'draft_status'
  | 'commits_status'
  | 'discussions_not_resolved'
  | 'conflict'
  | 'need_rebase'
  | 'ci_must_pass'
  | 'ci_still_running'
  | 'mergeable'

const running: ReadonlySet<string> = new Set([
  'created',
  'waiting_for_resource',
  'preparing',
  'pending',
  'running',
  'canceling',
  'scheduled',
])

export function isPipelineRunning(status: string | null): boolean {
  return status !== null && running.has(status)
}

/** Why the pipeline of its head is in the way, where the project wants one that succeeded. */
export function pipelineProblem(
  row: Pick<MergeRequestRow, 'project_settings' | 'pipeline_status'>,
): 'ci_must_pass' | 'ci_still_running' | undefined {
  const { project_settings: settings, pipeline_status: status } = row
  if (settings['only_allow_merge_if_pipeline_succeeds'] !== true) return undefined
  if (status === 'success') return undefined
  if (status === 'skipped' && settings['allow_merge_on_skipped_pipeline'] === true) return undefined
  return isPipelineRunning(status) ? 'ci_still_running' : 'ci_must_pass'
}

/** The checks in their order of precedence (supporting resources, 6.1); the first that fails is told. */
export function detailedMergeStatus(row: MergeRequestRow, now: Date): DetailedMergeStatus {
  const opened = row.state === 'opened'
  if (row.merge_status === 'preparing') return 'preparing'
  if (opened && row.merge_status === 'checking') return 'checking'
  // Without its branch there is nothing to be found out.
  if (opened && !isChecked(row) && !row.source_gone) return 'unchecked'
  return failingChecks(row, now)[0] ?? 'mergeable'
}

export function isChecked({ merge_status: status }: Pick<MergeRequestRow, 'merge_status'>): boolean {
  return status === 'can_be_merged' || status === 'cannot_be_merged'
}

/** Where the project's branches only move forward, what is merged must have all that the target has. */
export function needsRebase({
  project_settings: settings,
  diverged,
}: Pick<MergeRequestRow, 'project_settings' | 'diverged'>): boolean {
  return diverged && (settings['merge_method'] === 'ff' || settings['merge_method'] === 'rebase_merge')
}

/** All checks that fail once it is known whether the branches fit together. */
export function failingChecks(row: MergeRequestRow, now: Date): DetailedMergeStatus[] {
  const failing: DetailedMergeStatus[] = []
  if (row.changes_requested) failing.push('requested_changes')
  if (row.approvals_missing) failing.push('not_approved')
  if (row.state !== 'opened') failing.push('not_open')
  if (row.merge_after !== null && Date.parse(row.merge_after) > now.getTime()) failing.push('merge_time')
  if (row.draft) failing.push('draft_status')
  if (row.source_gone || row.head_sha === row.base_sha) failing.push('commits_status')
  if (
    row.unresolved_threads &&
    row.project_settings['only_allow_merge_if_all_discussions_are_resolved'] === true
  ) {
    failing.push('discussions_not_resolved')
  }
  if (row.state === 'opened' && row.merge_status === 'cannot_be_merged') failing.push('conflict')
  if (row.state === 'opened' && needsRebase(row)) failing.push('need_rebase')
  if (failing.length > 0) return failing
  const problem = pipelineProblem(row)
  return problem === undefined ? [] : [problem]
}
