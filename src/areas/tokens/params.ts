import { DateOnly, DateTime, Flag, Nullable, OneOf, Optional, Text } from '../../kernel/endpoint/index.ts'
import * as store from './store.ts'

/** What lists of tokens are filtered and ordered by. */
export const tokenFilters = {
  state: Optional(OneOf('active', 'inactive')),
  revoked: Optional(Flag()),
  search: Optional(Text({ description: 'Part of the name' })),
  created_after: Optional(DateTime()),
  created_before: Optional(DateTime()),
  last_used_after: Optional(DateTime()),
  last_used_before: Optional(DateTime()),
  expires_after: Optional(DateOnly()),
  expires_before: Optional(DateOnly()),
  sort: Optional(OneOf(store.sortings, {})),
}

export const rotationParams = {
  expires_at: Optional(Nullable(DateOnly({ description: 'In a week, when left out' }))),
}

export const newTokenParams = {
  name: Text({ blank: false, maxLength: 255 }),
  description: Optional(Nullable(Text({ maxLength: 255 }))),
  expires_at: Optional(
    Nullable(DateOnly({ description: 'In a year, when left out and the instance asks for an end' })),
  ),
}
