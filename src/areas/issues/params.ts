import {
  DateTime,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  OneOf,
  Optional,
  Text,
  type ParamRules,
} from '../../kernel/endpoint/index.ts'
import { invalidParameters } from '../../kernel/errors/index.ts'
import type { Found } from '../noteables/index.ts'
import { healthStatuses, issueTypes } from './entities.ts'

export const orders = [
  'created_at',
  'updated_at',
  'due_date',
  'label_priority',
  'milestone_due',
  'popularity',
  'priority',
  'relative_position',
  'title',
  'weight',
] as const
export type Order = (typeof orders)[number]

const texts = () => ListOf(Text(), { commaSeparated: true, single: true })
const numbers = () => ListOf(Int(), { commaSeparated: true, single: true })
/** An id, or one of two words: see `idOrWord`. */
const idNoneAny = (description?: string) =>
  Text({ pattern: '^(\\d{1,15}|[Nn]one|[Aa]ny)$', ...(description !== undefined && { description }) })

/** What both `not` and the list itself take. */
const both = {
  labels: Optional(texts()),
  milestone: Optional(Text({ description: 'Title; also `None`, `Any`, `Upcoming`, `Started`' })),
  milestone_id: Optional(OneOf('None', 'Any', 'Upcoming', 'Started')),
  iids: Optional(numbers()),
  author_id: Optional(Id()),
  author_username: Optional(Text()),
  assignee_username: Optional(texts()),
}

const negated = Fields(
  {
    ...both,
    assignee_id: Optional(Id()),
    my_reaction_emoji: Optional(Text()),
    weight: Optional(Int()),
    epic_id: Optional(Id()),
  },
  { description: 'What must not hold' },
)

/** What narrows lists and counts of issues. */
export const filterParams = {
  ...both,
  state: OneOf(['opened', 'closed', 'all'], { default: 'all' }),
  search: Optional(Text({ description: 'Words that the title or the description has' })),
  in: Optional(texts()),
  assignee_id: Optional(idNoneAny('Of a user; also `None`, `Any`')),
  my_reaction_emoji: Optional(Text({ description: 'Name; also `None`, `Any`' })),
  confidential: Optional(Flag()),
  created_after: Optional(DateTime()),
  created_before: Optional(DateTime()),
  updated_after: Optional(DateTime()),
  updated_before: Optional(DateTime()),
  due_date: Optional(
    OneOf('0', 'any', 'today', 'tomorrow', 'overdue', 'week', 'month', 'next_month_and_previous_two_weeks'),
  ),
  issue_type: Optional(OneOf(issueTypes, {})),
  weight: Optional(idNoneAny('A number; also `None`, `Any`')),
  epic_id: Optional(idNoneAny('Of an epic; also `None`, `Any`')),
  health_status: Optional(OneOf(['None', 'Any', ...healthStatuses] as const, {})),
  not: Optional(negated),
}

export const scopes = ['created_by_me', 'assigned_to_me', 'all', 'created-by-me', 'assigned-to-me'] as const

/** What the lists take besides. */
export const listParams = {
  ...filterParams,
  order_by: OneOf(orders, { default: 'created_at' }),
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
  with_labels_details: Flag({ default: false, description: 'Labels as objects, not only their names' }),
}

export const filterRules: ParamRules = {
  mutuallyExclusive: [
    ['milestone', 'milestone_id'],
    ['author_id', 'author_username'],
    ['assignee_id', 'assignee_username'],
  ],
}

export interface CommonFilter {
  readonly labels?: readonly string[] | undefined
  readonly milestone?: string | undefined
  readonly milestone_id?: string | undefined
  readonly iids?: readonly number[] | undefined
  readonly author_id?: number | undefined
  readonly author_username?: string | undefined
  readonly assignee_username?: readonly string[] | undefined
}

export interface IssueFilter extends CommonFilter {
  readonly state: 'opened' | 'closed' | 'all'
  readonly search?: string | undefined
  readonly in?: readonly string[] | undefined
  readonly assignee_id?: string | undefined
  readonly my_reaction_emoji?: string | undefined
  readonly confidential?: boolean | undefined
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
  readonly updated_after?: Date | undefined
  readonly updated_before?: Date | undefined
  readonly due_date?: string | undefined
  readonly issue_type?: string | undefined
  readonly weight?: string | undefined
  readonly epic_id?: string | undefined
  readonly health_status?: string | undefined
  readonly not?:
    | (CommonFilter & {
        readonly assignee_id?: number | undefined
        readonly my_reaction_emoji?: string | undefined
        readonly weight?: number | undefined
        readonly epic_id?: number | undefined
      })
    | undefined
  readonly scope?: string | undefined
  readonly non_archived?: boolean | undefined
  /** Of one milestone, by its id. */
  readonly planned_for?: number | undefined
  /** What another index has found; its order is that of the list. */
  readonly found?: Found | undefined
}

/** The fields that are searched in. */
export function searchedFields({
  in: fields,
}: {
  readonly in?: readonly string[] | undefined
}): ('title' | 'description')[] {
  if (fields === undefined || fields.length === 0) return ['title', 'description']
  const wanted = (['title', 'description'] as const).filter((field) => fields.includes(field))
  if (wanted.length !== new Set(fields).size) throw invalidParameters(['in does not have a valid value'])
  return wanted
}
