import { sql } from 'kysely'

/*
 * Whether approvals stand in the way of merge request `m`, in SQL, so that lists can say it too. Only paid plans can
 * write rules, so without a plan there are none.
 */

/** The rules that hold for `m`: its own, and those of its project that none of its own stands in for. */
export const rulesOfRequest = sql`
  select r.id, r.name, r.rule_type, r.approvals_required, r.section, r.source_rule_id,
    r.all_protected_branches, r.merge_request_id is not null as own
  from approval_rules r
  where r.merge_request_id = m.id
    or (r.project_id = m.project_id and r.merge_request_id is null
      and not exists (select from approval_rules o where o.merge_request_id = m.id and o.source_rule_id = r.id)
      and (case when r.all_protected_branches then is_branch_protected(m.project_id, m.target_branch)
        else not exists (select from approval_rule_branches b where b.rule_id = r.id)
          or exists (
            select from approval_rule_branches b join protected_branches pb on pb.id = b.protected_branch_id
            where b.rule_id = r.id and matches_branch_wildcard(pb.name, m.target_branch)) end))`

/** Ids of those who may approve by rule `r`. */
export const approversOfRule = sql`
  select ru.user_id from approval_rule_users ru where ru.rule_id = r.id
  union
  select gm.user_id from approval_rule_groups rg join namespaces gn on gn.id = rg.namespace_id,
    effective_memberships(gn.traversal_ids, null) gm
  where rg.rule_id = r.id`

/** Approvals of `m` that count for rule `r`. */
const given = sql`(
  select count(*) from merge_request_approvals a
  where a.merge_request_id = m.id and (r.rule_type = 'any_approver' or a.user_id in (${approversOfRule})))`

export const approvalsMissing = sql`exists (
  select from (${rulesOfRequest}) r where r.approvals_required > 0 and r.approvals_required > ${given})`

export const changesRequested = sql`exists (
  select from merge_request_reviewers rv where rv.merge_request_id = m.id and rv.state = 'requested_changes')`
