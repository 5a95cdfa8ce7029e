import { isAdministrator, may, userOf, type Actor, type ProjectSubject } from '../../../access/index.ts'
import { offers } from '../../../kernel/config/index.ts'
import type { SettingValues } from '../../../settings/index.ts'
import type { MergeRequestServices } from '../services.ts'
import type { RequestWithApprovals, RuleRow } from './rows.ts'
import { approvalSettings, type ApprovalSettings } from './settings.ts'

/** What the instance keeps projects from changing wins over what they have chosen. */
export function effectiveSettings(
  stored: Readonly<Record<string, unknown>>,
  values: Pick<
    SettingValues,
    | 'disable_overriding_approvers_per_merge_request'
    | 'prevent_merge_requests_author_approval'
    | 'prevent_merge_requests_committers_approval'
  >,
): ApprovalSettings {
  const own = approvalSettings(stored)
  return {
    ...own,
    disable_overriding_approvers_per_merge_request:
      own.disable_overriding_approvers_per_merge_request ||
      values.disable_overriding_approvers_per_merge_request,
    merge_requests_author_approval:
      own.merge_requests_author_approval && !values.prevent_merge_requests_author_approval,
    merge_requests_disable_committers_approval:
      own.merge_requests_disable_committers_approval || values.prevent_merge_requests_committers_approval,
  }
}

/** An instance may leave the rules of all projects and requests to its administrators. */
export function mayEditRules(actor: Actor, { settings }: Pick<MergeRequestServices, 'settings'>): boolean {
  return !settings.values.disable_overriding_approvers_per_merge_request || isAdministrator(actor)
}

/** Whether requests may say for themselves who has to approve them. */
export function mayOverrideRules(
  actor: Actor,
  project: ProjectSubject,
  services: Pick<MergeRequestServices, 'settings' | 'plan'>,
): boolean {
  const own = approvalSettings(project.settings)
  return (
    offers(services.plan, 'approval_rules') &&
    !own.disable_overriding_approvers_per_merge_request &&
    mayEditRules(actor, services)
  )
}

type Approvals = RequestWithApprovals['approvals']

function counting({ approvals, barred }: RequestWithApprovals): Approvals {
  return approvals.filter(({ user }) => !barred.includes(user.id))
}

/** Approvals that count for a rule. */
export function approvedBy(rule: RuleRow, row: RequestWithApprovals): Approvals {
  if (rule.rule_type === 'any_approver') return counting(row)
  const eligible = new Set(rule.eligible.map(({ id }) => id))
  return counting(row).filter(({ user }) => eligible.has(user.id))
}

/** Who may still approve by a rule that names people: not who has, nor whose approval would not count. */
function pendingFor(rule: RuleRow, row: RequestWithApprovals): number {
  const given = new Set(row.approvals.map(({ user }) => user.id))
  return approversBy(rule, row).filter(({ id }) => !given.has(id)).length
}

function approversBy(rule: RuleRow, { barred }: RequestWithApprovals): RuleRow['eligible'] {
  return rule.eligible.filter(({ id }) => !barred.includes(id))
}

/** It asks for approvals of which nobody can give one. */
export function isInvalid(rule: RuleRow, row: RequestWithApprovals): boolean {
  return (
    rule.rule_type !== 'any_approver' && rule.approvals_required > 0 && approversBy(rule, row).length === 0
  )
}

/** Approvals that a rule still asks for; none once everybody has approved who can, unless it would rather hold. */
function approvalsLeft(rule: RuleRow, row: RequestWithApprovals): number {
  const left = Math.max(0, rule.approvals_required - approvedBy(rule, row).length)
  const holds = rule.rule_type === 'any_approver' || rule.fails_closed
  return !holds && pendingFor(rule, row) === 0 ? 0 : left
}

export function isFulfilled(rule: RuleRow, row: RequestWithApprovals): boolean {
  return approvalsLeft(rule, row) === 0
}

/** How many approvals all rules ask for together, and how many of them are missing. */
export function approvalCounts(row: RequestWithApprovals): { required: number; left: number } {
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)
  return {
    required: row.wanted + sum(row.rules.map((rule) => rule.approvals_required)),
    left:
      Math.max(0, row.wanted - counting(row).length) + sum(row.rules.map((rule) => approvalsLeft(rule, row))),
  }
}

/**
 * Whether somebody may approve: Developers, and whoever a rule names; not twice. On paid plans a project says whether
 * authors and committers approve what they made; without one they may.
 */
export function mayApprove(
  actor: Actor,
  project: ProjectSubject,
  row: RequestWithApprovals,
  paid: boolean,
): boolean {
  if (actor.user === null || row.state !== 'opened') return false
  const { id } = userOf(actor)
  if (row.approvals.some(({ user }) => user.id === id)) return false
  const named = row.rules.some((rule) => rule.eligible.some((user) => user.id === id))
  if (!may(actor, 'approve_merge_request', project) && !(named && may(actor, 'approve_as_named', project))) {
    return false
  }
  return !paid || !row.barred.includes(id)
}
