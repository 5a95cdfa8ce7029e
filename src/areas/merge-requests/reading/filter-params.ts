import {
  DateTime,
  Either,
  Fields,
  Flag,
  Id,
  ListOf,
  OneOf,
  Optional,
  Text,
  type ParamRules,
  type Static,
} from '../../../kernel/endpoint/index.ts'

const someoneOr = Either(Id(), OneOf('None', 'Any', 'none', 'any'))
/** A word stands alone; clients send it as a list of one, too. */
const peopleOr = ListOf(someoneOr, { commaSeparated: true, single: true })
const names = ListOf(Text(), { commaSeparated: true, single: true })

export const mergeRequestOrders = [
  'created_at',
  'updated_at',
  'merged_at',
  'title',
  'priority',
  'label_priority',
  'milestone_due',
  'popularity',
] as const
export type MergeRequestOrder = (typeof mergeRequestOrders)[number]

/** What may stand under `not`. */
export const notParams = Fields({
  author_id: Optional(Id()),
  author_username: Optional(Text()),
  assignee_id: Optional(Id()),
  assignee_username: Optional(names),
  reviewer_id: Optional(Id()),
  reviewer_username: Optional(Text()),
  labels: Optional(names),
  milestone: Optional(Text()),
  my_reaction_emoji: Optional(Text()),
  source_branch: Optional(Text()),
  target_branch: Optional(Text()),
})

/** What lists of merge requests may be narrowed by, all three alike. */
export const filterParams = {
  state: OneOf(['opened', 'closed', 'locked', 'merged', 'all'], { default: 'all' }),
  author_id: Optional(Id()),
  author_username: Optional(Text()),
  assignee_id: Optional(someoneOr),
  assignee_username: Optional(names),
  reviewer_id: Optional(someoneOr),
  reviewer_username: Optional(Text()),
  approver_ids: Optional(peopleOr),
  approved_by_ids: Optional(peopleOr),
  approved_by_usernames: Optional(names),
  approved: Optional(OneOf('yes', 'no')),
  merge_user_id: Optional(Id()),
  merge_user_username: Optional(Text()),
  labels: Optional(names),
  milestone: Optional(Text({ description: 'A title, `None` or `Any`' })),
  my_reaction_emoji: Optional(Text({ description: 'A name, `None` or `Any`' })),
  search: Optional(Text()),
  in: Optional(Text({ description: '`title`, `description` or both with a comma between' })),
  source_branch: Optional(Text()),
  target_branch: Optional(Text()),
  source_project_id: Optional(Id()),
  wip: Optional(OneOf('yes', 'no')),
  draft: Optional(Flag()),
  created_after: Optional(DateTime()),
  created_before: Optional(DateTime()),
  updated_after: Optional(DateTime()),
  updated_before: Optional(DateTime()),
  deployed_after: Optional(DateTime()),
  deployed_before: Optional(DateTime()),
  environment: Optional(Text({ description: 'Where its commits were deployed' })),
  not: Optional(notParams),
}

/** Who is meant is said by number or by name. */
export const filterRules: ParamRules = {
  mutuallyExclusive: [
    ['author_id', 'author_username'],
    ['assignee_id', 'assignee_username'],
    ['reviewer_id', 'reviewer_username'],
    ['merge_user_id', 'merge_user_username'],
  ],
}

/** What lists show, and in which order. */
export const viewParams = {
  view: Optional(OneOf('simple')),
  with_labels_details: Flag({ default: false }),
  with_merge_status_recheck: Flag({ default: false }),
  render_html: Flag({ default: false }),
  order_by: OneOf(mergeRequestOrders, { default: 'created_at' }),
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
}

export const scopes = [
  'all',
  'created_by_me',
  'created-by-me',
  'assigned_to_me',
  'assigned-to-me',
  'reviews_for_me',
  'reviews-for-me',
] as const

type Filters = Static<ReturnType<typeof Fields<typeof filterParams>>>
export type MergeRequestFilter = Filters & {
  readonly scope: (typeof scopes)[number]
  readonly iids?: readonly number[] | undefined
  readonly order_by: MergeRequestOrder
  readonly sort: 'asc' | 'desc'
}
export type NotFilter = Static<typeof notParams>
