/** How much somebody wants to hear of a place. `global`: what the place above says, and at last the account. */
export const levels = ['disabled', 'participating', 'watch', 'global', 'mention', 'custom'] as const
export type Level = (typeof levels)[number]

/** What the level `custom` chooses from. */
export const eventNames = [
  'new_release',
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
  'merge_when_pipeline_succeeds',
  'new_epic',
] as const
export type EventName = (typeof eventNames)[number]
export type Events = Readonly<Partial<Record<EventName, boolean>>>

/** Of these people hear who take part, whatever they chose but for `disabled`; with `custom` until they say no. */
export const onByDefault: ReadonlySet<EventName> = new Set([
  'failed_pipeline',
  'fixed_pipeline',
  'moved_project',
])

export const defaultLevel: Level = 'participating'
