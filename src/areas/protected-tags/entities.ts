import { Fields, ListOf, Text } from '../../kernel/endpoint/index.ts'
import { accessEntry, AccessLevel, accessLevel, type EntryRow } from '../protected-branches/index.ts'
import type { TagRule } from './rules.ts'

export const ProtectedTag = Fields({ name: Text(), create_access_levels: ListOf(AccessLevel) })

/** A row with its entries, as the store reads it. */
export interface TagRuleRow {
  readonly id: number
  readonly name: string
  readonly updated_at: string
  readonly entries: readonly EntryRow[]
}

export function protectedTag({ name, entries }: TagRuleRow): unknown {
  return { name, create_access_levels: entries.map(accessLevel) }
}

export function tagRule({ name, entries }: TagRuleRow): TagRule {
  return { name, entries: entries.map(accessEntry) }
}
