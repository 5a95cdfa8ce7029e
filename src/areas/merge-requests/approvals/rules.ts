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

/** Approvals that count for a rule. */
export function approvedBy(rule: RuleRow, row: RequestWithApprovals): RequestWithApprovals['approvals'] {
  if (rule.rule_type === 'any_approver') return row.approvals
  const eligible = new Set(rule.eligible.map(({ id }) => id))
  return row.approvals.filter(({ user }) => eligible.has(user.id))
}

/** Who may still approve by a rule that names people: not who has, nor the author where the project keeps him off. */
function pendingFor(rule: RuleRow, row: RequestWithApprovals): number {
  const given = new Set(row.approvals.map(({ user }) => user.id))
  return approversBy(rule, row).filter(({ id }) => !given.has(id)).length
}

function approversBy(
  rule: RuleRow,
  { author_id, project_settings }: RequestWithApprovals,
): RuleRow['eligible'] {
  const authorToo = project_settings['merge_requests_author_approval'] === true
  return rule.eligible.filter(({ id }) => authorToo || id !== author_id)
}

/** It asks for approvals of which nobody can give one. */
export function isInvalid(rule: RuleRow, row: RequestWithApprovals): boolean {
  return (
    rule.rule_type !== 'any_approver' && rule.approvals_required > 0 && approversBy(rule, row).length === 0
  )
}

/** Approvals that a rule still asks for; none once everybody has approved who can. */
function approvalsLeft(rule: RuleRow, row: RequestWithApprovals): number {
  const left = Math.max(0, rule.approvals_required - approvedBy(rule, row).length)
  return rule.rule_type !== 'any_approver' && pendingFor(rule, row) === 0 ? 0 : left
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
      Math.max(0, row.wanted - row.approvals.length) + sum(row.rules.map((rule) => approvalsLeft(rule, row))),
  }
}

export interface ApprovalFacts {
  readonly settings: ApprovalSettings
  readonly paid: boolean
  /** Addresses of those who made its commits. */
  readonly committers: readonly string[]
}

/**
 * Whether somebody may approve: Developers, and whoever a rule names; not twice. On paid plans a project says whether
 * authors approve what they made; without one they may.
 */
export function mayApprove(
  actor: Actor,
  project: ProjectSubject,
  row: RequestWithApprovals,
  { settings, paid, committers }: ApprovalFacts,
): boolean {
  if (actor.user === null || row.state !== 'opened') return false
  const { id, email } = userOf(actor)
  if (row.approvals.some(({ user }) => user.id === id)) return false
  const named = row.rules.some((rule) => rule.eligible.some((user) => user.id === id))
  if (!may(actor, 'approve_merge_request', project) && !(named && may(actor, 'approve_as_named', project))) {
    return false
  }
  if (!paid) return true
  if (row.author_id === id && !settings.merge_requests_author_approval) return false
  return !(settings.merge_requests_disable_committers_approval && committers.includes(email.toLowerCase()))
}
