import { Fields, Flag, Id, Int, ListOf, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'
import type { Action, BranchRule, Entry } from './rules.ts'

const AccessLevel = Fields({
  id: Id(),
  access_level: Nullable(Int()),
  access_level_description: Text(),
  deploy_key_id: Optional(Id()),
  user_id: Nullable(Id()),
  group_id: Nullable(Id()),
})

export const ProtectedBranch = Fields({
  id: Id(),
  name: Text(),
  push_access_levels: ListOf(AccessLevel),
  merge_access_levels: ListOf(AccessLevel),
  unprotect_access_levels: ListOf(AccessLevel),
  allow_force_push: Flag(),
  code_owner_approval_required: Flag(),
})

/** A row with its entries, as the store reads it. */
export interface RuleRow {
  readonly id: number
  readonly name: string
  readonly allow_force_push: boolean
  readonly code_owner_approval_required: boolean
  readonly entries: readonly {
    readonly id: number
    readonly action: Action
    readonly access_level: number | null
    readonly user_id: number | null
    readonly user_name: string | null
    readonly deploy_key_id: number | null
    readonly key_title: string | null
  }[]
}

export const levelNames: Readonly<Record<number, string>> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Instance admins',
}

export function protectedBranch(row: RuleRow): unknown {
  const levels = (action: Action): unknown[] =>
    row.entries
      .filter((entry) => entry.action === action)
      .map((entry) => ({
        id: entry.id,
        access_level: entry.access_level,
        access_level_description: entry.user_name ?? entry.key_title ?? levelNames[entry.access_level ?? 0],
        ...(entry.deploy_key_id !== null && { deploy_key_id: entry.deploy_key_id }),
        user_id: entry.user_id,
        group_id: null,
      }))
  return {
    ...row,
    push_access_levels: levels('push'),
    merge_access_levels: levels('merge'),
    unprotect_access_levels: levels('unprotect'),
  }
}

export function branchRule(row: RuleRow): BranchRule {
  return {
    id: row.id,
    name: row.name,
    allowForcePush: row.allow_force_push,
    codeOwnerApprovalRequired: row.code_owner_approval_required,
    entries: row.entries.map(({ id, action, access_level, user_id, deploy_key_id }): Entry => ({
      id,
      action,
      accessLevel: access_level,
      userId: user_id,
      deployKeyId: deploy_key_id,
    })),
  }
}
