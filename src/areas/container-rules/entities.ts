import { Fields, Flag, Id, ListOf, Nullable, OneOf, Text } from '../../kernel/endpoint/index.ts'
import { levelWord, levelWords, type Level } from './rules.ts'

const level = Nullable(OneOf(levelWords, {}))

export const PathRule = Fields({
  id: Id(),
  project_id: Id(),
  repository_path_pattern: Text(),
  minimum_access_level_for_push: level,
  minimum_access_level_for_delete: level,
})

export const TagRule = Fields({
  id: Id(),
  project_id: Id(),
  tag_name_pattern: Text(),
  minimum_access_level_for_push: level,
  minimum_access_level_for_delete: level,
})

const Action = Fields({
  minimum_access_level: OneOf(['developer', ...levelWords], {
    description: 'The lowest role that may; administrators always may',
  }),
  rule: Nullable(PathRule),
  allowed: Flag({ description: 'Whether the caller may' }),
})

export const Preview = Fields({
  repository_path: Text(),
  push: Action,
  delete: Action,
  rules: ListOf(PathRule, { description: 'All rules that match the path' }),
})

/** A row as the store reads it; the pattern with the project's path before it. */
export interface PathRuleRow {
  readonly id: number
  readonly project_id: number
  readonly repository_path_pattern: string
  readonly minimum_push: Level | null
  readonly minimum_delete: Level | null
  readonly updated_at: Date
}

export interface TagRuleRow {
  readonly id: number
  readonly project_id: number
  readonly tag_name_pattern: string
  readonly minimum_push: Level | null
  readonly minimum_delete: Level | null
  readonly updated_at: Date
}

function levels({ minimum_push, minimum_delete }: Pick<PathRuleRow, 'minimum_push' | 'minimum_delete'>) {
  return {
    minimum_access_level_for_push: levelWord(minimum_push),
    minimum_access_level_for_delete: levelWord(minimum_delete),
  }
}

export function pathRule(row: PathRuleRow) {
  return { ...row, ...levels(row) }
}

export function tagRule(row: TagRuleRow) {
  return { ...row, ...levels(row) }
}
