import type { RawBuilder } from 'kysely'
import type { AccessEntry } from '../../access/index.ts'
import { isDatabaseError, onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { conflict, unprocessable } from '../../kernel/errors/index.ts'
import { branchRule, type RuleRow } from './entities.ts'
import { actionWords, type Action, type BranchRule } from './rules.ts'

/** Whose rules are meant: those of a project, or those that a top-level group has for all projects below it. */
export interface Owner {
  readonly kind: 'project' | 'group'
  readonly id: number
}

/** Of rule `b`. Whether entries of groups let somebody in is told for this user. */
const columnsFor = (userId: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  b.id, b.name, b.allow_force_push, b.code_owner_approval_required, b.namespace_id is not null as of_group, (
    select coalesce(json_agg(json_build_object('id', l.id, 'action', l.action, 'access_level', l.access_level,
      'user_id', l.user_id, 'deploy_key_id', l.deploy_key_id, 'group_id', l.group_id,
      'name', coalesce(u.name, k.title, g.name),
      'through_group', l.group_id is not null and admits_through_group(l.project_id, l.group_id, ${userId}))
      order by l.id), '[]'::json)
    from protected_branch_access_levels l left join users u on u.id = l.user_id
      left join ssh_keys k on k.id = l.deploy_key_id left join namespaces g on g.id = l.group_id
    where l.protected_branch_id = b.id) as entries`

/** Inside a `read`. */
const columns = columnsFor(sql`actor.id`)
const ofProject = sql`(b.project_id = subject.id or b.namespace_id = subject.line[1])`
const ofGroup = sql`b.namespace_id = subject.id`

/** The rules of the endpoint's project, with those of the group above it, or of its group. */
export function list(kind: Owner['kind'], search: string | undefined, input: PageInput): Read<RuleRow> {
  // Position, not LIKE: what is searched for is text, not a pattern.
  const found = search === undefined ? sql`` : sql`and position(lower(${search}) in lower(b.name)) > 0`
  return page(
    {
      columns,
      from: sql`from protected_branches b where ${kind === 'project' ? ofProject : ofGroup} ${found}`,
      order: sql`b.id`,
    },
    input,
  )
}

/** A rule of a project or of the group above it; where both have one of this name, the project's own. */
export function named(name: string): Read<RuleRow> {
  return rows(sql`
    select ${columns} from protected_branches b where ${ofProject} and b.name = ${name}
    order by b.project_id nulls last limit 1`)
}

/** A rule of the project or group itself. */
export function ownNamed(kind: Owner['kind'], name: string): Read<RuleRow> {
  const own = kind === 'project' ? sql`b.project_id = subject.id` : ofGroup
  return rows(sql`select ${columns} from protected_branches b where ${own} and b.name = ${name}`)
}

/** A rule of the owner itself, locked. */
export async function find(
  tx: Tx,
  { kind, id }: Owner,
  name: string,
  userId: number | null,
): Promise<RuleRow | undefined> {
  const own = kind === 'project' ? sql`b.project_id = ${id}` : sql`b.namespace_id = ${id}`
  const result = await sql<RuleRow>`
    select ${columnsFor(sql`${userId}::bigint`)} from protected_branches b
    where ${own} and b.name = ${name} for update of b`.execute(tx)
  return result.rows[0]
}

/**
 * All rules of a project, the inherited ones too. There are few; which of them match is decided outside the database.
 * Entries of groups are told for this user; where nobody is asked about, null.
 */
export async function rulesOf(db: Reader, projectId: number, userId: number | null): Promise<BranchRule[]> {
  return (await ruleRowsOf(db, projectId, userId)).map(branchRule)
}

export async function ruleRowsOf(db: Reader, projectId: number, userId: number | null): Promise<RuleRow[]> {
  const result = await sql<RuleRow>`
    select ${columnsFor(sql`${userId}::bigint`)}
    from projects p join namespaces n on n.id = p.namespace_id
      join protected_branches b on b.project_id = p.id or b.namespace_id = n.traversal_ids[1]
    where p.id = ${projectId} order by b.id`.execute(db)
  return result.rows
}

/** The same as one value, inside a `read`. */
export const rulesColumn = sql`(
  select coalesce(json_agg(r), '[]'::json)
  from (select ${columns} from protected_branches b where ${ofProject} order by b.id) r)`

/** The same, read together with the caller's access: one row, however many rules there are. */
export function allRules(): Read<{ readonly rules: readonly RuleRow[] }> {
  return rows(sql`select ${rulesColumn} as rules`)
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

export interface NewEntry extends AccessEntry {
  readonly action: Action
}

export interface NewRule {
  readonly name: string
  readonly allowForcePush: boolean
  readonly codeOwnerApprovalRequired: boolean
  readonly entries: readonly NewEntry[]
}

export async function create(tx: Tx, owner: Owner, rule: NewRule): Promise<void> {
  const taken = () => conflict(`Protected branch '${rule.name}' already exists`)
  const { id } = await tx
    .insertInto('protected_branches')
    .values({
      project_id: owner.kind === 'project' ? owner.id : null,
      namespace_id: owner.kind === 'group' ? owner.id : null,
      name: rule.name,
      allow_force_push: rule.allowForcePush,
      code_owner_approval_required: rule.codeOwnerApprovalRequired,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
    .catch(onConstraint('protected_branches_name', taken))
    .catch(onConstraint('protected_branches_group_name', taken))
  await addEntries(tx, owner, id, rule.entries)
}

export async function addEntries(
  tx: Tx,
  owner: Owner,
  ruleId: number,
  entries: readonly NewEntry[],
): Promise<void> {
  if (entries.length === 0) return
  await tx
    .insertInto('protected_branch_access_levels')
    .values(
      entries.map((entry) => ({
        project_id: owner.kind === 'project' ? owner.id : null,
        protected_branch_id: ruleId,
        action: entry.action,
        ...targetColumns(entry),
      })),
    )
    .execute()
    .catch(orTaken)
}

export async function changeEntry(tx: Tx, id: number, entry: NewEntry): Promise<void> {
  await tx
    .updateTable('protected_branch_access_levels as l')
    .set(targetColumns(entry))
    .where('l.id', '=', id)
    .execute()
    .catch(orTaken)
}

/** As tables of entries have them. */
export function targetColumns({ accessLevel, userId, deployKeyId, groupId }: AccessEntry) {
  return { access_level: accessLevel, user_id: userId, deploy_key_id: deployKeyId, group_id: groupId }
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

const attributes: Readonly<Record<string, string>> = {
  user: 'user',
  deploy_key: 'deploy key',
  group: 'group',
}

/** One level, user, key or group stands once among the entries of a kind: unique indexes say so, this gives it words. */
function orTaken(error: unknown): never {
  if (isDatabaseError(error) && error.constraint?.startsWith('protected_branch_access_levels_') === true) {
    const action = /\(\d+, (\w+), /.exec(error.detail ?? '')?.[1] ?? 'push'
    const attribute =
      attributes[/_(user|deploy_key|group)$/.exec(error.constraint)?.[1] ?? ''] ?? 'access level'
    throw unprocessable([
      `${actionWords[action as Action]} access levels ${attribute} has already been taken`,
    ])
  }
  throw error
}
