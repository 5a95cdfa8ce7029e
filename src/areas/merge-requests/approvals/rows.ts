import type { RawBuilder } from 'kysely'
import { sql } from '../../../kernel/db/index.ts'
import { subjectRequestsReadable } from '../../../access/index.ts'
import { rows, type Read } from '../../../kernel/endpoint/index.ts'
import { lineName } from '../../namespaces/index.ts'
import { basicUserJson, type BasicUserRow } from '../../users/index.ts'
import { mergeRequestColumns, mergeRequestSource, type MergeRequestRow } from '../rows.ts'
import { approvalsOfProject, approversOfRule, barredApprovers, rulesOfRequest } from './missing.ts'

export interface GroupRow {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly full_name: string
  readonly visibility: number
}

/** An approval rule with those it names and those who may approve by it. */
export interface RuleRow {
  readonly id: number
  readonly name: string
  /** `report_approver`: of a security policy. */
  readonly rule_type: 'regular' | 'any_approver' | 'code_owner' | 'report_approver'
  readonly approvals_required: number
  readonly section: string | null
  readonly source_rule_id: number | null
  readonly all_protected_branches: boolean
  /** It holds a merge though nobody can approve by it. */
  readonly fails_closed: boolean
  /** Of the request itself, not of its project. */
  readonly own: boolean
  readonly users: readonly BasicUserRow[]
  readonly groups: readonly GroupRow[]
  readonly eligible: readonly BasicUserRow[]
  readonly branches: readonly { readonly id: number; readonly name: string }[]
}

export interface ApprovalRow {
  readonly user: BasicUserRow
  readonly approved_at: string
}

export type RequestWithApprovals = MergeRequestRow & {
  readonly approvals: readonly ApprovalRow[]
  readonly rules: readonly RuleRow[]
  /** Approvals by anybody that the project wants of each request, beside the rules. */
  readonly wanted: number
  /** Ids of users whose approvals do not count. */
  readonly barred: readonly number[]
}

/** Of a rule `r`, which asks for so many approvals in this project. */
const ruleColumns = (
  required: RawBuilder<unknown> = sql`r.approvals_required`,
  project: RawBuilder<unknown> = sql`r.project_id`,
): RawBuilder<unknown> => sql`
  r.id, r.name, r.rule_type, ${required} as approvals_required, r.section, r.source_rule_id, r.all_protected_branches,
  r.fails_closed, r.merge_request_id is not null as own,
  coalesce((
    select json_agg(${basicUserJson('u')} order by u.id) from approval_rule_users x join users u on u.id = x.user_id
    where x.rule_id = r.id), '[]') as users,
  coalesce((
    select json_agg(json_build_object('id', g.id, 'name', g.name, 'path', g.path, 'full_path', g.full_path,
      'full_name', ${lineName('g')}, 'visibility', g.visibility) order by g.id)
    from approval_rule_groups x join namespaces g on g.id = x.namespace_id where x.rule_id = r.id), '[]') as groups,
  coalesce((
    select json_agg(${basicUserJson('u')} order by u.id) from users u
    where u.state = 'active' and u.id in (${approversOfRule(project)})), '[]') as eligible,
  coalesce((
    select json_agg(json_build_object('id', pb.id, 'name', pb.name) order by pb.id)
    from approval_rule_branches x join protected_branches pb on pb.id = x.protected_branch_id
    where x.rule_id = r.id), '[]') as branches`

const approvalsColumn = sql`
  coalesce((
    select json_agg(json_build_object('user', ${basicUserJson('u')}, 'approved_at', a.created_at)
      order by a.created_at, a.user_id)
    from merge_request_approvals a join users u on u.id = a.user_id where a.merge_request_id = m.id), '[]') as approvals`

const rulesColumn = sql`
  coalesce((
    select json_agg(found order by found.id) from (
      select ${ruleColumns(sql`held.approvals_required`, sql`m.project_id`)} from (${rulesOfRequest}) held join approval_rules r on r.id = held.id) found), '[]') as rules`

export function readableWithApprovals(iid: number): Read<RequestWithApprovals> {
  return rows(sql`
    select ${mergeRequestColumns}, ${approvalsColumn}, ${rulesColumn}, ${approvalsOfProject} as wanted,
        ${barredApprovers} as barred from ${mergeRequestSource}
    where m.project_id = subject.id and m.iid = ${iid} and ${subjectRequestsReadable}`)
}

export function withApprovals(id: number): RawBuilder<{ row: RequestWithApprovals }> {
  return sql<{ row: RequestWithApprovals }>`
    select to_json(r) as row from (
      select ${mergeRequestColumns}, ${approvalsColumn}, ${rulesColumn}, ${approvalsOfProject} as wanted,
        ${barredApprovers} as barred from ${mergeRequestSource}
      where m.id = ${id}) r`
}

/** The rules of the project that is the subject. */
export function projectRules(): Read<RuleRow> {
  return rows(sql`
    select ${ruleColumns()} from approval_rules r
    where r.project_id = subject.id and r.merge_request_id is null order by r.id`)
}

export function projectRule(id: number): Read<RuleRow> {
  return rows(sql`
    select ${ruleColumns()} from approval_rules r
    where r.project_id = subject.id and r.merge_request_id is null and r.id = ${id}`)
}

export function ruleOf(id: number): RawBuilder<{ row: RuleRow }> {
  return sql<{ row: RuleRow }>`
    select to_json(x) as row from (select ${ruleColumns()} from approval_rules r where r.id = ${id}) x`
}
