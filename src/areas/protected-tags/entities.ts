import { Fields, Id, Int, ListOf, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'
import { levelNames } from '../protected-branches/index.ts'
import type { TagRule } from './rules.ts'

export const ProtectedTag = Fields({
  name: Text(),
  create_access_levels: ListOf(
    Fields({
      id: Id(),
      access_level: Nullable(Int()),
      access_level_description: Text(),
      deploy_key_id: Optional(Id()),
      user_id: Nullable(Id()),
      group_id: Nullable(Id()),
    }),
  ),
})

/** A row with its entries, as the store reads it. */
export interface TagRuleRow {
  readonly id: number
  readonly name: string
  readonly entries: readonly {
    readonly id: number
    readonly access_level: number | null
    readonly user_id: number | null
    readonly user_name: string | null
    readonly deploy_key_id: number | null
    readonly key_title: string | null
  }[]
}

export function protectedTag({ name, entries }: TagRuleRow): unknown {
  return {
    name,
    create_access_levels: entries.map((entry) => ({
      id: entry.id,
      access_level: entry.access_level,
      access_level_description: entry.user_name ?? entry.key_title ?? levelNames[entry.access_level ?? 0],
      ...(entry.deploy_key_id !== null && { deploy_key_id: entry.deploy_key_id }),
      user_id: entry.user_id,
      group_id: null,
    })),
  }
}

export function tagRule({ name, entries }: TagRuleRow): TagRule {
  return {
    name,
    entries: entries.map(({ access_level, user_id, deploy_key_id }) => ({
      accessLevel: access_level,
      userId: user_id,
      deployKeyId: deploy_key_id,
    })),
  }
}
