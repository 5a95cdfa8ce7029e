import { visibilityName } from '../../../access/index.ts'
import {
  Fields,
  Flag,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  Optional,
  Text,
  Timestamp,
} from '../../../kernel/endpoint/index.ts'
import { BasicUser, basicUser, type BasicUserRow } from '../../users/index.ts'
import { detailedMergeStatus } from '../merging/status.ts'
import { approvalCounts, approvedBy, isFulfilled, isInvalid } from './rules.ts'
import type { GroupRow, RequestWithApprovals, RuleRow } from './rows.ts'

const Group = Fields({
  id: Id(),
  name: Text(),
  path: Text(),
  full_name: Text(),
  full_path: Text(),
  visibility: Text(),
  web_url: Text(),
})

const ruleFields = {
  id: Id(),
  name: Text(),
  rule_type: Text({
    description: 'regular, any_approver, code_owner or report_approver (of a security policy)',
  }),
  eligible_approvers: ListOf(BasicUser),
  approvals_required: Int(),
  users: ListOf(BasicUser),
  groups: ListOf(Group),
  contains_hidden_groups: Flag(),
}

export const ProjectRule = Fields({
  ...ruleFields,
  report_type: Nullable(Text()),
  protected_branches: ListOf(Fields({ id: Id(), name: Text() })),
  applies_to_all_protected_branches: Flag(),
})

export const RequestRule = Fields({
  ...ruleFields,
  report_type: Nullable(Text()),
  section: Nullable(Text()),
  source_rule: Json({ description: 'The rule of the project that it stands in for, or null' }),
  overridden: Flag(),
})

export const ApprovalState = Fields({
  approval_rules_overwritten: Flag(),
  rules: ListOf(
    Fields({
      ...RequestRule.properties,
      code_owner: Flag(),
      approved_by: ListOf(BasicUser),
      approved: Flag(),
    }),
  ),
})

const RuleName = Fields({ id: Id(), name: Text(), rule_type: Text() })

export const Approvals = Fields({
  id: Optional(Id()),
  iid: Optional(Id()),
  project_id: Optional(Id()),
  title: Optional(Text()),
  description: Optional(Nullable(Text())),
  state: Optional(Text()),
  created_at: Optional(Timestamp()),
  updated_at: Optional(Timestamp()),
  merge_status: Optional(Text()),
  detailed_merge_status: Optional(Text()),
  approved: Flag(),
  approvals_required: Optional(Int()),
  approvals_left: Optional(Int()),
  require_password_to_approve: Optional(Flag()),
  approved_by: ListOf(Fields({ user: BasicUser, approved_at: Timestamp() })),
  suggested_approvers: Optional(ListOf(BasicUser)),
  approvers: Optional(ListOf(Json())),
  approver_groups: Optional(ListOf(Json())),
  user_has_approved: Flag(),
  user_can_approve: Flag(),
  approval_rules_left: Optional(ListOf(RuleName)),
  has_approval_rules: Optional(Flag()),
  multiple_approval_rules_available: Optional(Flag()),
  invalid_approvers_rules: Optional(ListOf(RuleName, { description: 'That nobody can fulfil' })),
})

export function approvals(
  row: RequestWithApprovals,
  about: {
    readonly externalUrl: string
    readonly paid: boolean
    readonly passwordNeeded: boolean
    readonly userId: number | undefined
    readonly canApprove: boolean
  },
): Record<string, unknown> {
  const { externalUrl, paid, userId, canApprove } = about
  const users = (rows: readonly BasicUserRow[]): unknown[] => rows.map((user) => basicUser(user, externalUrl))
  const basic = {
    approved: row.approvals.length > 0,
    approved_by: row.approvals.map(({ user, approved_at }) => ({
      user: basicUser(user, externalUrl),
      approved_at,
    })),
    user_has_approved: row.approvals.some(({ user }) => user.id === userId),
    user_can_approve: canApprove,
  }
  if (!paid) return basic
  const { required, left } = approvalCounts(row)
  const given = new Set(row.approvals.map(({ user }) => user.id))
  const suggested = new Map(
    row.rules
      .flatMap(({ eligible }) => eligible)
      .filter(({ id }) => !given.has(id) && !row.barred.includes(id))
      .map((user) => [user.id, user]),
  )
  return {
    ...row,
    ...basic,
    detailed_merge_status: detailedMergeStatus(row, { now: new Date(), paid }),
    approved: left === 0,
    approvals_required: required,
    approvals_left: left,
    require_password_to_approve: about.passwordNeeded,
    suggested_approvers: users([...suggested.values()]),
    approvers: [],
    approver_groups: [],
    approval_rules_left: row.rules.filter((rule) => !isFulfilled(rule, row)).map(named),
    has_approval_rules: row.rules.length > 0,
    multiple_approval_rules_available: true,
    invalid_approvers_rules: row.rules.filter((rule) => isInvalid(rule, row)).map(named),
  }
}

function named({ id, name, rule_type }: RuleRow): Record<string, unknown> {
  return { id, name, rule_type }
}

function group(row: GroupRow, externalUrl: string): Record<string, unknown> {
  return {
    ...row,
    visibility: visibilityName(row.visibility),
    web_url: `${externalUrl}/groups/${row.full_path}`,
  }
}

function rule(row: RuleRow, externalUrl: string): Record<string, unknown> {
  const users = (rows: readonly BasicUserRow[]): unknown[] => rows.map((user) => basicUser(user, externalUrl))
  return {
    ...row,
    report_type: row.rule_type === 'report_approver' ? 'any_merge_request' : null,
    eligible_approvers: users(row.eligible),
    users: users(row.users),
    groups: row.groups.map((one) => group(one, externalUrl)),
    contains_hidden_groups: false,
  }
}

export function projectRule(row: RuleRow, externalUrl: string): Record<string, unknown> {
  return {
    ...rule(row, externalUrl),
    protected_branches: row.branches,
    applies_to_all_protected_branches: row.all_protected_branches,
  }
}

export function requestRule(row: RuleRow, externalUrl: string): Record<string, unknown> {
  return {
    ...rule(row, externalUrl),
    source_rule: row.source_rule_id === null ? null : { id: row.source_rule_id },
    overridden: row.source_rule_id !== null,
  }
}

export function approvalState(row: RequestWithApprovals, externalUrl: string): Record<string, unknown> {
  return {
    approval_rules_overwritten: row.rules.some(({ source_rule_id }) => source_rule_id !== null),
    rules: row.rules.map((one) => ({
      ...requestRule(one, externalUrl),
      code_owner: one.rule_type === 'code_owner',
      approved_by: approvedBy(one, row).map(({ user }) => basicUser(user, externalUrl)),
      approved: isFulfilled(one, row),
    })),
  }
}
