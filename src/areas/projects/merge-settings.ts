/** Settings of how merge requests are merged, which a custom role may give without the others. */
const mergeSettings: ReadonlySet<string> = new Set([
  'allow_merge_on_skipped_pipeline',
  'approvals_before_merge',
  'merge_commit_template',
  'merge_method',
  'merge_pipelines_enabled',
  'merge_request_title_regex',
  'merge_request_title_regex_description',
  'merge_requests_template',
  'merge_trains_enabled',
  'only_allow_merge_if_all_discussions_are_resolved',
  'only_allow_merge_if_all_status_checks_passed',
  'only_allow_merge_if_pipeline_succeeds',
  'printing_merge_request_link_enabled',
  'remove_source_branch_after_merge',
  'resolve_outdated_diff_discussions',
  'squash_commit_template',
  'squash_option',
  'suggestion_commit_message',
])

/** Whether a request asks for such settings, and for nothing else. */
export function changesMergeSettingsOnly(params: Readonly<Record<string, unknown>>): boolean {
  const asked = Object.keys(params).filter((name) => name !== 'id' && params[name] !== undefined)
  return asked.length > 0 && asked.every((name) => mergeSettings.has(name))
}
