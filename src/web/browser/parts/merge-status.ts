/** What keeps a merge request from being merged (`detailed_merge_status`), as people say it. */
const words: Readonly<Record<string, string>> = {
  approvals_syncing: 'Its approvals are being found out.',
  checking: 'Whether it can be merged is being found out.',
  ci_must_pass: 'Its pipeline has to pass first.',
  ci_still_running: 'Its pipeline is still running.',
  commits_status: 'It brings no commits, or its branch is gone.',
  conflict: 'It changes what was changed in the target branch, too.',
  discussions_not_resolved: 'Not all of its threads are resolved.',
  draft_status: 'It is a draft.',
  locked_lfs_files: 'Somebody has locked files that it changes.',
  merge_request_blocked: 'Another merge request has to be merged first.',
  merge_time: 'It is not to be merged yet.',
  mergeable: 'It can be merged.',
  need_rebase: 'Its branch has to be rebased first.',
  not_approved: 'It has to be approved first.',
  not_open: 'It is not open.',
  preparing: 'It is being prepared.',
  requested_changes: 'Somebody asked for changes.',
  title_regex: 'Its title is not as the project wants titles to be.',
  unchecked: 'Whether it can be merged is not known yet.',
}

export function mergeStatus(name: string): string {
  return words[name] ?? name.replaceAll('_', ' ')
}

/** Whether it changes by itself, and soon. */
export function isBeingChecked(name: string): boolean {
  return ['checking', 'preparing', 'unchecked'].includes(name)
}
