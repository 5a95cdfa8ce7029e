import { Flag, Id, Int, ListOf, Optional, Text } from '../../../kernel/endpoint/index.ts'

const ids = Optional(ListOf(Id(), { commaSeparated: true, single: true }))

/** Whom a rule names. */
export const targets = {
  user_ids: ids,
  usernames: Optional(ListOf(Text(), { commaSeparated: true, single: true })),
  group_ids: ids,
}
/** The branches that a rule of a project is for. */
export const branches = {
  protected_branch_ids: ids,
  applies_to_all_protected_branches: Optional(Flag()),
}
export const required = Int({ minimum: 0, maximum: 100 })
export const ruleId = { approval_rule_id: Id() }

interface Sent {
  readonly user_ids?: readonly number[] | undefined
  readonly usernames?: readonly string[] | undefined
  readonly group_ids?: readonly number[] | undefined
  readonly protected_branch_ids?: readonly number[] | undefined
}

interface Targets {
  readonly userIds: readonly number[] | undefined
  readonly usernames: readonly string[] | undefined
  readonly groupIds: readonly number[] | undefined
  readonly branchIds: readonly number[] | undefined
}

export function targetsOf(params: Sent): Targets {
  return {
    userIds: params.user_ids,
    usernames: params.usernames,
    groupIds: params.group_ids,
    branchIds: params.protected_branch_ids,
  }
}

/** Rules that name nobody are for anybody. */
export function typeOf(
  params: Sent & { readonly rule_type?: 'regular' | 'any_approver' | undefined },
): 'regular' | 'any_approver' {
  if (params.rule_type !== undefined) return params.rule_type
  const names = [params.user_ids, params.usernames, params.group_ids].some((list) => (list?.length ?? 0) > 0)
  return names ? 'regular' : 'any_approver'
}
