import { sql, type RawBuilder } from 'kysely'
import { isDatabaseError, onConstraint, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { conflict, unprocessable } from '../../kernel/errors/index.ts'
import { branchRule, type RuleRow } from './entities.ts'
import type { Action, BranchRule } from './rules.ts'

const columns = sql`
  b.id, b.name, b.allow_force_push, b.code_owner_approval_required, (
    select coalesce(json_agg(json_build_object('id', l.id, 'action', l.action, 'access_level', l.access_level,
      'user_id', l.user_id, 'user_name', u.name, 'deploy_key_id', l.deploy_key_id, 'key_title', k.title)
      order by l.id), '[]'::json)
    from protected_branch_access_levels l left join users u on u.id = l.user_id
      left join ssh_keys k on k.id = l.deploy_key_id
    where l.protected_branch_id = b.id) as entries`

export function list(search: string | undefined, input: PageInput): Read<RuleRow> {
  // Position, not LIKE: what is searched for is text, not a pattern.
  const found = search === undefined ? sql`` : sql`and position(lower(${search}) in lower(b.name)) > 0`
  return page(
    {
      columns,
      from: sql`from protected_branches b where b.project_id = subject.id ${found}`,
      order: sql`b.id`,
    },
    input,
  )
}

function ofName(project: RawBuilder<unknown>, name: string): RawBuilder<RuleRow> {
  return sql<RuleRow>`
    select ${columns} from protected_branches b where b.project_id = ${project} and b.name = ${name}`
}

export function named(name: string): Read<RuleRow> {
  return rows(ofName(sql`subject.id`, name))
}

export async function find(tx: Tx, projectId: number, name: string): Promise<RuleRow | undefined> {
  const result = await sql<RuleRow>`${ofName(sql`${projectId}`, name)} for update of b`.execute(tx)
  return result.rows[0]
}

/** All rules of a project. There are few; which of them match is decided outside the database. */
export async function rulesOf(db: Reader, projectId: number): Promise<BranchRule[]> {
  const result = await sql<RuleRow>`
    select ${columns} from protected_branches b where b.project_id = ${projectId} order by b.id`.execute(db)
  return result.rows.map(branchRule)
}

/** The same, read together with the caller's access: one row, however many rules there are. */
export function allRules(): Read<{ readonly rules: readonly RuleRow[] }> {
  return rows(sql`
    select coalesce(json_agg(r), '[]'::json) as rules
    from (select ${columns} from protected_branches b where b.project_id = subject.id order by b.id) r`)
}

/** What `allRules` brought. */
export function rulesIn(found: readonly { readonly rules: readonly RuleRow[] }[]): BranchRule[] {
  return found.flatMap((row) => row.rules.map(branchRule))
}

/** The default protection that the nearest group above a project has of its own, as stored; undefined without one. */
export async function groupDefaults(db: Reader, projectId: number): Promise<unknown> {
  const { rows: found } = await sql<{ defaults: unknown }>`
    select n.settings -> 'default_branch_protection_defaults' as defaults
    from projects p join namespaces own on own.id = p.namespace_id
      join namespaces n on n.id = any (own.traversal_ids)
    where p.id = ${projectId} and n.settings ? 'default_branch_protection_defaults'
    order by cardinality(n.traversal_ids) desc limit 1`.execute(db)
  return found[0]?.defaults
}

export interface NewEntry {
  readonly action: Action
  readonly accessLevel: number | null
  readonly userId: number | null
  readonly deployKeyId: number | null
}

export interface NewRule {
  readonly name: string
  readonly allowForcePush: boolean
  readonly codeOwnerApprovalRequired: boolean
  readonly entries: readonly NewEntry[]
}

export async function create(tx: Tx, projectId: number, rule: NewRule): Promise<void> {
  const { id } = await tx
    .insertInto('protected_branches')
    .values({
      project_id: projectId,
      name: rule.name,
      allow_force_push: rule.allowForcePush,
      code_owner_approval_required: rule.codeOwnerApprovalRequired,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(
      onConstraint('protected_branches_name', () =>
        conflict(`Protected branch '${rule.name}' already exists`),
      ),
    )
  await addEntries(tx, projectId, id, rule.entries)
}

export async function addEntries(
  tx: Tx,
  projectId: number,
  ruleId: number,
  entries: readonly NewEntry[],
): Promise<void> {
  if (entries.length === 0) return
  await tx
    .insertInto('protected_branch_access_levels')
    .values(
      entries.map(({ action, accessLevel, userId, deployKeyId }) => ({
        project_id: projectId,
        protected_branch_id: ruleId,
        action,
        access_level: accessLevel,
        user_id: userId,
        deploy_key_id: deployKeyId,
      })),
    )
    .execute()
    .catch(orTaken)
}

export async function changeEntry(tx: Tx, id: number, entry: NewEntry): Promise<void> {
  await tx
    .updateTable('protected_branch_access_levels as l')
    .set({ access_level: entry.accessLevel, user_id: entry.userId, deploy_key_id: entry.deployKeyId })
    .where('l.id', '=', id)
    .execute()
    .catch(orTaken)
}

export async function removeEntries(tx: Tx, ids: readonly number[]): Promise<void> {
  await sql`delete from protected_branch_access_levels l where l.id = any (${ids}::bigint[])`.execute(tx)
}

export async function change(
  tx: Tx,
  id: number,
  values: { allowForcePush: boolean; codeOwnerApprovalRequired: boolean },
): Promise<void> {
  await tx
    .updateTable('protected_branches as b')
    .set({
      allow_force_push: values.allowForcePush,
      code_owner_approval_required: values.codeOwnerApprovalRequired,
      updated_at: sql`now()`,
    })
    .where('b.id', '=', id)
    .execute()
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('protected_branches as b').where('b.id', '=', id).execute()
}

export async function updatedAt(tx: Tx, id: number): Promise<Date> {
  const row = await tx
    .selectFrom('protected_branches as b')
    .select('b.updated_at')
    .where('b.id', '=', id)
    .executeTakeFirstOrThrow()
  return row.updated_at
}

/** Those of the given users who are members of the project, by any way. */
export async function membersAmong(
  tx: Tx,
  projectId: number,
  userIds: readonly number[],
): Promise<Set<number>> {
  const result = await sql<{ user_id: number }>`
    select distinct m.user_id
    from projects p join namespaces n on n.id = p.namespace_id,
      effective_memberships(n.traversal_ids, p.id) m
    where p.id = ${projectId} and m.user_id = any (${userIds}::bigint[])`.execute(tx)
  return new Set(result.rows.map((row) => row.user_id))
}

/** Those of the given deploy keys that may push to the project, with whether their owner is a member. */
export async function pushingKeys(
  tx: Tx,
  projectId: number,
  keyIds: readonly number[],
): Promise<Map<number, { ownerIsMember: boolean }>> {
  const result = await sql<{ id: number; member: boolean }>`
    select d.deploy_key_id as id, coalesce(u.admin, false) or exists (
      select from projects p join namespaces n on n.id = p.namespace_id,
        effective_memberships(n.traversal_ids, p.id) m
      where p.id = d.project_id and m.user_id = u.id) as member
    from deploy_key_projects d join ssh_keys k on k.id = d.deploy_key_id left join users u on u.id = k.creator_id
    where d.project_id = ${projectId} and d.can_push and d.deploy_key_id = any (${keyIds}::bigint[])`.execute(
    tx,
  )
  return new Map(result.rows.map(({ id, member }) => [id, { ownerIsMember: member }]))
}

const kinds: Readonly<Record<string, string>> = { push: 'Push', merge: 'Merge', unprotect: 'Unprotect' }

/** One level or user stands once among the entries of a kind: unique indexes say so, this gives it words. */
function orTaken(error: unknown): never {
  if (isDatabaseError(error) && error.constraint?.startsWith('protected_branch_access_levels_') === true) {
    const action = /\(\d+, (\w+), /.exec(error.detail ?? '')?.[1] ?? 'push'
    const attribute = error.constraint.endsWith('_user')
      ? 'user'
      : error.constraint.endsWith('_deploy_key')
        ? 'deploy key'
        : 'access level'
    throw unprocessable([`${kinds[action] ?? 'Push'} access levels ${attribute} has already been taken`])
  }
  throw error
}
