import { compilePattern } from '../../../ci/text/regex.ts'
import type { MergeRequestRow } from '../rows.ts'

/** What keeps a merge request from being merged, or `mergeable`. */
export type DetailedMergeStatus =
  | 'preparing'
  | 'checking'
  | 'unchecked'
  | 'requested_changes'
  | 'not_approved'
  | 'merge_request_blocked'
  | 'not_open'
  | 'merge_time'
  | 'draft_status'
  | 'commits_status'
  | 'discussions_not_resolved'
  | 'title_regex'
  | 'locked_lfs_files'
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

/** What counts besides the request itself. */
export interface Circumstances {
  readonly now: Date
  /** On paid plans who requests changes has to be heard. */
  readonly paid: boolean
}

/** The checks in their order of precedence (supporting resources, 6.1); the first that fails is told. */
export function detailedMergeStatus(row: MergeRequestRow, about: Circumstances): DetailedMergeStatus {
  const opened = row.state === 'opened'
  if (row.merge_status === 'preparing') return 'preparing'
  if (opened && row.merge_status === 'checking') return 'checking'
  // Without its branch there is nothing to be found out.
  if (opened && !isChecked(row) && !row.source_gone) return 'unchecked'
  return failingChecks(row, about)[0] ?? 'mergeable'
}

export function isChecked({ merge_status: status }: Pick<MergeRequestRow, 'merge_status'>): boolean {
  return status === 'can_be_merged' || status === 'cannot_be_merged'
}

/** Where the project's branches only move forward, what is merged must have all that the target has. */
export function movesForward({
  project_settings: settings,
}: Pick<MergeRequestRow, 'project_settings'>): boolean {
  return settings['merge_method'] === 'ff' || settings['merge_method'] === 'rebase_merge'
}

/** All checks that fail once it is known whether the branches fit together. */
export function failingChecks(row: MergeRequestRow, { now, paid }: Circumstances): DetailedMergeStatus[] {
  const { project_settings: settings } = row
  const opened = row.state === 'opened'
  const checks: readonly (readonly [DetailedMergeStatus, boolean])[] = [
    ['requested_changes', paid && row.changes_requested],
    ['not_approved', row.approvals_missing],
    ['merge_request_blocked', row.blocked],
    ['not_open', !opened],
    ['merge_time', row.merge_after !== null && Date.parse(row.merge_after) > now.getTime()],
    ['draft_status', row.draft],
    ['commits_status', row.source_gone || row.head_sha === row.base_sha],
    [
      'discussions_not_resolved',
      row.unresolved_threads && settings['only_allow_merge_if_all_discussions_are_resolved'] === true,
    ],
    ['title_regex', opened && !titleFits(row)],
    ['locked_lfs_files', row.locked_files],
    ['conflict', opened && row.merge_status === 'cannot_be_merged'],
    ['need_rebase', opened && row.diverged && movesForward(row)],
  ]
  const failing = checks.flatMap(([name, fails]) => (fails ? [name] : []))
  if (failing.length > 0) return failing
  const problem = pipelineProblem(row)
  return problem === undefined ? [] : [problem]
}

/** Whether the title is as the project wants titles to be. */
function titleFits({
  title,
  project_settings,
}: Pick<MergeRequestRow, 'title' | 'project_settings'>): boolean {
  const source = project_settings['merge_request_title_regex']
  if (typeof source !== 'string' || source === '') return true
  return compilePattern(source, '')?.test(title) ?? true
}
