import type { RawBuilder } from 'kysely'
import { sql } from '../../../kernel/db/index.ts'

/*
 * Whether approvals stand in the way of merge request `m`, in SQL, so that lists can say it too. Only paid plans can
 * write rules, so without a plan there are none.
 */

/**
 * The rules that hold for `m`: its own, those of its project that none of its own stands in for, and those of security
 * policies. Code owners are told of everywhere; they have to approve only where a rule of the target branch asks for
 * that.
 */
export const rulesOfRequest = sql`
  select r.id, r.rule_type, r.policy_id, r.approver_levels, r.fails_closed,
    case when r.rule_type = 'code_owner' and not requires_code_owners(m.project_id, m.target_branch) then 0
      else r.approvals_required end as approvals_required
  from approval_rules r
  where (r.merge_request_id = m.id and not r.removed)
    or (r.project_id = m.project_id and r.merge_request_id is null
      and not exists (select from approval_rules o where o.merge_request_id = m.id and o.source_rule_id = r.id)
      and (case when r.all_protected_branches then is_branch_protected(m.project_id, m.target_branch)
        else not exists (select from approval_rule_branches b where b.rule_id = r.id)
          or exists (
            select from approval_rule_branches b join protected_branches pb on pb.id = b.protected_branch_id
            where b.rule_id = r.id and matches_branch_wildcard(pb.name, m.target_branch)) end))
  union all
  select r.id, r.rule_type, r.policy_id, r.approver_levels, r.fails_closed, r.approvals_required
  from policy_rules(m.project_id, m.target_branch, m.unsigned_commits) held (id) join approval_rules r on r.id = held.id`

/** Ids of those who may approve by rule `r` in a project. */
export const approversOfRule = (project: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select ru.user_id from approval_rule_users ru where ru.rule_id = r.id and r.policy_id is null
  union
  select gm.user_id from approval_rule_groups rg join namespaces gn on gn.id = rg.namespace_id,
    effective_memberships(gn.traversal_ids, null) gm
  where rg.rule_id = r.id and r.policy_id is null
  union
  select policy_approvers(r.id, r.approver_levels, ${project}) where r.policy_id is not null`

const approvers = approversOfRule(sql`m.project_id`)

/** Ids of those whose approval of `m` does not count: of its author and of its committers, as project and instance want. */
export const barredApprovers = sql`barred_approvers(m.project_id, m.author_id, m.committer_ids)`

/** Approvals of `m` that count for rule `r`. */
const given = sql`(
  select count(*) from merge_request_approvals a
  where a.merge_request_id = m.id and a.user_id <> all (${barredApprovers}) and (r.rule_type = 'any_approver' or a.user_id in (${approvers})))`

/**
 * Somebody who has not approved `m` may do so by rule `r`. Where nobody may, the rule can ask for no more, unless its
 * policy would rather have no merge.
 */
const pending = sql`(r.rule_type = 'any_approver' or r.fails_closed or exists (
  select from (${approvers}) may_approve join users approver on approver.id = may_approve.user_id
  where approver.state = 'active'
    and approver.id <> all (${barredApprovers})
    and not exists (
      select from merge_request_approvals a where a.merge_request_id = m.id and a.user_id = approver.id)))`

/** What the project wants of every request, where no rule for all members says something else. */
export const approvalsOfProject = sql`(
  select case when exists (
      select from approval_rules any_rule where any_rule.rule_type = 'any_approver' and any_rule.project_id = m.project_id
        and (any_rule.merge_request_id is null or any_rule.merge_request_id = m.id)) then 0
    else coalesce((p.settings ->> 'approvals_before_merge')::int, 0) end
  from projects p where p.id = m.project_id)`

export const approvalsMissing = sql`(
  exists (
    select from (${rulesOfRequest}) r where r.approvals_required > 0 and r.approvals_required > ${given} and ${pending})
  or ${approvalsOfProject} > (
    select count(*) from merge_request_approvals a
    where a.merge_request_id = m.id and a.user_id <> all (${barredApprovers})))`

export const changesRequested = sql`exists (
  select from merge_request_reviewers rv where rv.merge_request_id = m.id and rv.state = 'requested_changes')`
