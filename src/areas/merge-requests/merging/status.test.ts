import { expect, test } from 'vitest'
import type { MergeRequestRow } from '../rows.ts'
import { detailedMergeStatus, failingChecks, type DetailedMergeStatus } from './status.ts'

const now = new Date('2030-01-01T00:00:00Z')

function row(fields: Partial<MergeRequestRow>, settings: Record<string, unknown> = {}): MergeRequestRow {
  const usual: Partial<MergeRequestRow> = {
    ...{ state: 'opened', merge_status: 'can_be_merged', head_sha: 'b', base_sha: 'a', title: 'Title' },
    ...{
      changes_requested: false,
      approvals_missing: false,
      blocked: false,
      locked_files: false,
      merge_after: null,
      draft: false,
    },
    ...{ source_gone: false, unresolved_threads: false, diverged: false, pipeline_status: null },
    project_settings: settings,
  }
  return { ...usual, ...fields } as MergeRequestRow
}

const threads = { only_allow_merge_if_all_discussions_are_resolved: true }
const pipelines = { only_allow_merge_if_pipeline_succeeds: true }
const ff = { merge_method: 'ff' }

/** In the order in which they win over one another. */
const cases: readonly (readonly [DetailedMergeStatus, Partial<MergeRequestRow>, Record<string, unknown>?])[] =
  [
    ['requested_changes', { changes_requested: true }],
    ['not_approved', { approvals_missing: true }],
    ['merge_request_blocked', { blocked: true }],
    ['merge_time', { merge_after: '2030-01-02T00:00:00Z' }],
    ['draft_status', { draft: true }],
    ['commits_status', { source_gone: true }],
    ['discussions_not_resolved', { unresolved_threads: true }, threads],
    ['title_regex', {}, { merge_request_title_regex: '^feat' }],
    ['locked_lfs_files', { locked_files: true }],
    ['conflict', { merge_status: 'cannot_be_merged' }],
    ['need_rebase', { diverged: true }, ff],
    ['ci_must_pass', { pipeline_status: 'failed' }, pipelines],
  ]

test.for(cases)('%s', ([status, fields, settings = {}]) => {
  expect(detailedMergeStatus(row(fields, settings), { now, paid: true })).toBe(status)
})

test.for<[DetailedMergeStatus, Partial<MergeRequestRow>, Record<string, unknown>?]>([
  ['preparing', { merge_status: 'preparing' }],
  ['checking', { merge_status: 'checking', draft: true }],
  ['unchecked', { merge_status: 'unchecked', draft: true }],
  ['unchecked', { merge_status: 'cannot_be_merged_recheck' }],
  ['not_open', { state: 'closed', draft: true, merge_status: 'unchecked' }],
  ['not_open', { state: 'merged' }],
  ['commits_status', { base_sha: 'b' }],
  ['mergeable', { merge_after: '2029-12-31T00:00:00Z' }],
  ['mergeable', { unresolved_threads: true, diverged: true, pipeline_status: 'failed' }],
  ['mergeable', {}, { merge_request_title_regex: '^Ti' }],
  ['ci_must_pass', { pipeline_status: null }, pipelines],
  ['ci_must_pass', { pipeline_status: 'skipped' }, pipelines],
  ['mergeable', { pipeline_status: 'skipped' }, { ...pipelines, allow_merge_on_skipped_pipeline: true }],
  ['ci_still_running', { pipeline_status: 'running' }, pipelines],
  ['mergeable', { pipeline_status: 'success' }, pipelines],
  ['need_rebase', { diverged: true }, { merge_method: 'rebase_merge' }],
])('%s with %j', ([status, fields, settings = {}]) => {
  expect(detailedMergeStatus(row(fields, settings), { now, paid: true })).toBe(status)
})

test('the first that fails wins, and pipelines count last', () => {
  const all = row(
    Object.assign({}, ...cases.map(([, fields]) => fields)) as Partial<MergeRequestRow>,
    Object.assign({}, ...cases.map(([, , settings]) => settings ?? {})) as Record<string, unknown>,
  )
  const names = cases.map(([status]) => status)
  expect(failingChecks(all, { now, paid: true })).toEqual(names.slice(0, -1))
  expect(failingChecks(all, { now, paid: false })).toEqual(names.slice(1, -1))
})
