import { visibilityNames } from '../../access/index.ts'
import { DateTime, Flag, Int, ListOf, OneOf, Optional, Text } from '../../kernel/endpoint/index.ts'
import { attributeParams } from '../custom-attributes/index.ts'
import { projectOrders } from './listing.ts'

/** Parameters of every list of projects. */
export const listParams = {
  archived: Optional(Flag()),
  active: Optional(
    Flag({
      description: 'Neither it nor a group above it is archived, or marked for deletion; false: the others',
    }),
  ),
  visibility: Optional(OneOf(visibilityNames, {})),
  search: Optional(Text({ description: 'Part of the name, path or description' })),
  search_namespaces: Optional(Flag({ description: 'Search in the full path too' })),
  owned: Optional(Flag({ description: 'Those that the caller owns' })),
  min_access_level: Optional(OneOf([5, 10, 15, 20, 30, 40, 50], { description: "The caller's least role" })),
  with_programming_language: Optional(Text({ description: 'Those with files of this language' })),
  starred: Optional(Flag({ description: 'Those that the caller likes' })),
  with_issues_enabled: Optional(Flag()),
  with_merge_requests_enabled: Optional(Flag()),
  topic: Optional(ListOf(Text(), { commaSeparated: true, description: 'All of these' })),
  topic_id: Optional(Int({ description: 'Those of this topic' })),
  ...attributeParams,
  simple: Optional(Flag({ description: 'In the short form' })),
  order_by: OneOf(projectOrders, {
    default: 'created_at',
    description: 'By sizes for administrators; others get the usual order',
  }),
  sort: OneOf(['asc', 'desc'], { default: 'desc' }),
}

/** Parameters besides of the lists of all projects, of a user's, and of forks. */
export const filterParams = {
  membership: Optional(Flag({ description: 'Those that the caller is a member of' })),
  imported: Optional(Flag({ description: 'Those that came from elsewhere' })),
  marked_for_deletion_on: Optional(DateTime({ description: 'Those that were marked on this day' })),
  last_activity_after: Optional(DateTime()),
  last_activity_before: Optional(DateTime()),
  updated_after: Optional(DateTime({ description: 'Only with `order_by=updated_at`' })),
  updated_before: Optional(DateTime({ description: 'Only with `order_by=updated_at`' })),
  include_hidden: Optional(
    Flag({ description: 'For administrators. No project is ever hidden: nothing changes' }),
  ),
  include_pending_delete: Optional(
    Flag({
      description:
        'For administrators. Projects that are deleted are gone at once, and marked ones always listed: nothing changes',
    }),
  ),
  repository_storage: Optional(Text({ description: 'For administrators' })),
  statistics: Optional(
    Flag({ description: 'With what each takes, where the caller is a Reporter or above' }),
  ),
  id_after: Optional(Int({ description: 'Only projects with a greater id' })),
  id_before: Optional(Int({ description: 'Only projects with a smaller id' })),
}
