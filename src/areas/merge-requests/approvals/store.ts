import { isDatabaseError, sql, type Reader, type Tx } from '../../../kernel/db/index.ts'
import { invalid } from '../../../kernel/errors/index.ts'
import { ruleOf, type RuleRow } from './rows.ts'

export interface RuleValues {
  readonly name: string
  readonly ruleType: 'regular' | 'any_approver'
  readonly approvalsRequired: number
  readonly allProtectedBranches: boolean
}

function named(error: unknown): never {
  if (isDatabaseError(error) && error.constraint?.startsWith('approval_rules_') === true) {
    if (error.constraint === 'approval_rules_any_approver') {
      throw invalid({ rule_type: ['any-approver for the project already exists'] })
    }
    throw invalid({ name: ['has already been taken'] })
  }
  throw error
}

export async function insertRule(
  tx: Tx,
  place: {
    readonly projectId: number
    readonly mergeRequestId: number | null
    readonly sourceRuleId: number | null
  },
  values: RuleValues,
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into approval_rules (project_id, merge_request_id, source_rule_id, name, rule_type, approvals_required,
      all_protected_branches)
    values (${place.projectId}, ${place.mergeRequestId}, ${place.sourceRuleId}, ${values.name}, ${values.ruleType},
      ${values.approvalsRequired}, ${values.allProtectedBranches}) returning id`
    .execute(tx)
    .catch(named)
  return rows[0]!.id
}

export async function changeRule(tx: Tx, id: number, values: Omit<RuleValues, 'ruleType'>): Promise<void> {
  await sql`
    update approval_rules set name = ${values.name}, approvals_required = ${values.approvalsRequired},
      all_protected_branches = ${values.allProtectedBranches}, updated_at = now()
    where id = ${id}`
    .execute(tx)
    .catch(named)
}

/** Users who are members of the project, groups that are there, branches that are protected; others are left out. */
export async function setRuleTargets(
  tx: Tx,
  { id, projectId }: { readonly id: number; readonly projectId: number },
  targets: {
    readonly userIds?: readonly number[] | undefined
    readonly usernames?: readonly string[] | undefined
    readonly groupIds?: readonly number[] | undefined
    readonly branchIds?: readonly number[] | undefined
  },
): Promise<void> {
  const { userIds, usernames, groupIds, branchIds } = targets
  if (userIds !== undefined || usernames !== undefined) {
    await sql`delete from approval_rule_users x where x.rule_id = ${id}`.execute(tx)
    await sql`
      insert into approval_rule_users (rule_id, user_id)
      select distinct ${id}::bigint, member.user_id
      from projects p join namespaces n on n.id = p.namespace_id
        cross join lateral effective_memberships(n.traversal_ids, p.id) member join users u on u.id = member.user_id
      where p.id = ${projectId} and (member.user_id = any (${[...(userIds ?? [])]}::bigint[])
        or lower(u.username) = any (${(usernames ?? []).map((name) => name.toLowerCase())}::text[]))`.execute(
      tx,
    )
  }
  if (groupIds !== undefined) {
    await sql`delete from approval_rule_groups x where x.rule_id = ${id}`.execute(tx)
    await sql`
      insert into approval_rule_groups (rule_id, namespace_id)
      select ${id}::bigint, g.id from namespaces g
      where g.kind = 'group' and g.id = any (${[...groupIds]}::bigint[])`.execute(tx)
  }
  if (branchIds !== undefined) {
    await sql`delete from approval_rule_branches x where x.rule_id = ${id}`.execute(tx)
    await sql`
      insert into approval_rule_branches (rule_id, protected_branch_id)
      select ${id}::bigint, b.id from protected_branches b
      where b.project_id = ${projectId} and b.id = any (${[...branchIds]}::bigint[])`.execute(tx)
  }
}

export async function findRule(db: Reader, id: number): Promise<RuleRow> {
  const { rows } = await ruleOf(id).execute(db)
  return rows[0]!.row
}

export async function removeRule(tx: Tx, id: number): Promise<void> {
  await sql`delete from approval_rules r where r.id = ${id}`.execute(tx)
}

/** Lets a request do without a rule of its project. */
export async function dropRule(
  tx: Tx,
  { projectId, mergeRequestId }: { readonly projectId: number; readonly mergeRequestId: number },
  { id, name }: Pick<RuleRow, 'id' | 'name'>,
): Promise<void> {
  await sql`
    insert into approval_rules (project_id, merge_request_id, source_rule_id, name, approvals_required, removed)
    values (${projectId}, ${mergeRequestId}, ${id}, ${name}, 0, true)`.execute(tx)
}

/** Changes settings of a project that are kept among its others; gives all of them as they are then. */
export async function changeProjectSettings(
  tx: Tx,
  projectId: number,
  changes: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const { rows } = await sql<{ settings: Record<string, unknown> }>`
    update projects set settings = settings || ${JSON.stringify(changes)}::jsonb
    where id = ${projectId} returning settings`.execute(tx)
  return rows[0]!.settings
}

const anybodysRule = 'All Members'

/** Lets a request ask for so many approvals of anybody, in place of what its project asks for. */
export async function askForApprovals(
  tx: Tx,
  { projectId, mergeRequestId }: { readonly projectId: number; readonly mergeRequestId: number },
  approvals: number,
): Promise<void> {
  await sql`
    with changed as (
      update approval_rules set approvals_required = ${approvals}, updated_at = now()
      where merge_request_id = ${mergeRequestId} and rule_type = 'any_approver' returning id)
    insert into approval_rules (project_id, merge_request_id, source_rule_id, name, rule_type, approvals_required)
    select ${projectId}, ${mergeRequestId}, (
        select o.id from approval_rules o
        where o.project_id = ${projectId} and o.merge_request_id is null and o.rule_type = 'any_approver'),
      ${anybodysRule}, 'any_approver', ${approvals}
    where not exists (select from changed)`.execute(tx)
}
