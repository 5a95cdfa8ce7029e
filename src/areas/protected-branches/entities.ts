import { Fields, Flag, Id, Int, ListOf, Nullable, Optional, Text } from '../../kernel/endpoint/index.ts'
import { Role, type AccessEntry } from '../../access/index.ts'
import type { Action, BranchRule } from './rules.ts'

export const AccessLevel = Fields({
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
  inherited: Optional(Flag({ description: 'There, and true, only for a rule of a group above the project' })),
})

/** An entry of a rule, as it is read: one of the five says whom it names. */
export interface EntryRow {
  readonly id: number
  readonly access_level: number | null
  readonly user_id: number | null
  readonly deploy_key_id: number | null
  readonly group_id: number | null
  /** Of the user, key or group. */
  readonly name: string | null
  readonly through_group: boolean
}

/** A row with its entries, as the store reads it. */
export interface RuleRow {
  readonly id: number
  readonly name: string
  readonly allow_force_push: boolean
  readonly code_owner_approval_required: boolean
  readonly of_group: boolean
  readonly entries: readonly (EntryRow & { readonly action: Action })[]
}

const levelNames: Readonly<Record<number, string>> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Instance admins',
}

/** A rule in answers about the one whose rule it is. */
export function ownRule(row: RuleRow): Record<string, unknown> {
  const levels = (action: Action): unknown[] =>
    row.entries.filter((entry) => entry.action === action).map(accessLevel)
  return {
    ...row,
    push_access_levels: levels('push'),
    merge_access_levels: levels('merge'),
    unprotect_access_levels: levels('unprotect'),
  }
}

/** A rule in answers about a project. */
export function protectedBranch(row: RuleRow): Record<string, unknown> {
  return { ...ownRule(row), ...(row.of_group && { inherited: true }) }
}

export function accessLevel(row: EntryRow): Record<string, unknown> {
  return {
    id: row.id,
    // A key stands where Maintainers do.
    access_level: row.access_level ?? (row.deploy_key_id === null ? null : Role.maintainer),
    access_level_description: row.name ?? levelNames[row.access_level ?? 0],
    ...(row.deploy_key_id !== null && { deploy_key_id: row.deploy_key_id }),
    user_id: row.user_id,
    group_id: row.group_id,
  }
}

export function branchRule(row: RuleRow): BranchRule {
  return {
    id: row.id,
    name: row.name,
    inherited: row.of_group,
    allowForcePush: row.allow_force_push,
    codeOwnerApprovalRequired: row.code_owner_approval_required,
    entries: row.entries.map((entry) => ({ id: entry.id, action: entry.action, ...accessEntry(entry) })),
  }
}

export function accessEntry(row: EntryRow): AccessEntry {
  return {
    accessLevel: row.access_level,
    userId: row.user_id,
    deployKeyId: row.deploy_key_id,
    groupId: row.group_id,
    throughGroup: row.through_group,
  }
}
