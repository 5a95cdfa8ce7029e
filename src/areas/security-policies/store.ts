import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx, type Writer } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import type { ReadProject } from '../repository/index.ts'
import { roleLevels, type PolicyAction, type PolicyFile, type PolicyRule } from './parse.ts'

export type PolicyPlace = 'project' | 'group'

export interface PolicyRow {
  readonly name: string
  readonly description: string | null
  readonly enabled: boolean
  readonly problem: string | null
  readonly notes: readonly string[]
  readonly rank: number | null
  readonly rules: readonly PolicyRule[]
  readonly actions: readonly PolicyAction[]
}

/** A link that holds for a place: its own, or of a group above it. */
export interface LinkRow {
  readonly kind: PolicyPlace
  readonly id: number
  readonly full_path: string
  readonly own: boolean
  readonly policy_project_id: number
  readonly policy_project_path: string
  readonly commit: string | null
  readonly problem: string | null
  readonly policies: readonly PolicyRow[]
}

/** The links that hold for the place that is the subject, from the top group down. */
export function links(place: PolicyPlace): Read<LinkRow> {
  return rows(linksOf(place, sql`subject.id`))
}

export async function findLinks(db: Reader, place: PolicyPlace, id: number): Promise<LinkRow[]> {
  const found = await sql<{ row: LinkRow }>`
    select to_json(l) as row from (${linksOf(place, sql`${id}::bigint`)}) l`.execute(db)
  return found.rows.map(({ row }) => row)
}

function linksOf(place: PolicyPlace, id: RawBuilder<unknown>): RawBuilder<unknown> {
  const line =
    place === 'group'
      ? sql`select n.traversal_ids from namespaces n where n.id = ${id}`
      : sql`select n.traversal_ids from projects p join namespaces n on n.id = p.namespace_id where p.id = ${id}`
  const own = place === 'group' ? sql`l.namespace_id = ${id}` : sql`l.project_id = ${id}`
  const here =
    place === 'group'
      ? sql`l.namespace_id = any ((${line})::bigint[])`
      : sql`(l.project_id = ${id} or l.namespace_id = any ((${line})::bigint[]))`
  return sql`
    select case when l.project_id is null then 'group' else 'project' end as kind,
      coalesce(l.project_id, l.namespace_id) as id, coalesce(p.full_path, g.full_path) as full_path,
      coalesce(${own}, false) as own, l.policy_project_id, source.full_path as policy_project_path, f.commit, f.problem,
      coalesce((
        select json_agg(json_build_object('name', s.name, 'description', s.description, 'enabled', s.enabled,
          'problem', s.problem, 'notes', s.notes, 'rank', s.rank, 'rules', s.rules, 'actions', s.actions)
          order by s.position)
        from security_policies s where s.policy_project_id = l.policy_project_id), '[]') as policies
    from security_policy_links l join projects source on source.id = l.policy_project_id
      left join projects p on p.id = l.project_id left join namespaces g on g.id = l.namespace_id
      left join security_policy_files f on f.policy_project_id = l.policy_project_id
    where ${here}
    order by l.project_id is not null, cardinality(g.traversal_ids)`
}

export async function link(
  db: Writer,
  place: PolicyPlace,
  id: number,
  policyProjectId: number,
): Promise<void> {
  const column = place === 'project' ? sql.ref('project_id') : sql.ref('namespace_id')
  await sql`
    insert into security_policy_links (${column}, policy_project_id) values (${id}, ${policyProjectId})
    on conflict (${column}) do update set policy_project_id = excluded.policy_project_id`.execute(db)
}

/** Whether there was one. */
export async function unlink(db: Writer, place: PolicyPlace, id: number): Promise<boolean> {
  const column = place === 'project' ? sql`l.project_id` : sql`l.namespace_id`
  const { rows: removed } = await sql`
    delete from security_policy_links l where ${column} = ${id} returning l.id`.execute(db)
  return removed.length > 0
}

/** A project that others take their policies from; undefined where none does. */
export async function findSource(db: Reader, id: number): Promise<ReadProject | undefined> {
  const { rows: found } = await sql<ReadProject>`
    select p.id, p.storage, p.default_branch as "defaultBranch", p.repository_empty as "repositoryEmpty",
      p.refs_version as "refsVersion"
    from projects p
    where p.id = ${id} and exists (select from security_policy_links l where l.policy_project_id = p.id)`.execute(
    db,
  )
  return found[0]
}

export interface ReadFile extends PolicyFile {
  readonly commit: string | null
  readonly refsVersion: number
}

/** Puts what a file says in the place of what was read before it, unless somebody has read a later one. */
export async function replacePolicies(tx: Tx, projectId: number, file: ReadFile): Promise<void> {
  const { rows: newest } = await sql`
    insert into security_policy_files as f (policy_project_id, refs_version, commit, problem)
    select p.id, ${file.refsVersion}, ${file.commit}, ${file.problem} from projects p
      where p.id = ${projectId} for key share
    on conflict (policy_project_id) do update set refs_version = excluded.refs_version, commit = excluded.commit,
      problem = excluded.problem
    where f.refs_version <= excluded.refs_version returning f.policy_project_id`.execute(tx)
  if (newest.length === 0) return
  await sql`delete from security_policies s where s.policy_project_id = ${projectId}`.execute(tx)
  if (file.policies.length === 0) return
  let rank = 0
  const policies = file.policies.map(
    ({ onlyProjects, exceptProjects, failsClosed, ...policy }, position) => ({
      ...policy,
      position,
      rank: policy.enabled && policy.problem === null ? (rank += 1) : null,
      only_projects: onlyProjects,
      except_projects: exceptProjects,
      fails_closed: failsClosed,
    }),
  )
  const approvals = policies.flatMap(({ name, position, fails_closed, actions }) =>
    actions.map((action, index) => ({
      ...action,
      position,
      fails_closed,
      name: index === 0 ? name : `${name} ${index + 1}`,
      levels: action.role_approvers.map((role) => roleLevels[role]),
      users: action.user_approvers.map((one) => one.toLowerCase()),
      groups: action.group_approvers.map((one) => one.toLowerCase()),
    })),
  )
  await sql`
    with asked as (
      select a.* from jsonb_to_recordset(${JSON.stringify(approvals)}::jsonb) a (position int, name text,
        approvals_required int, levels smallint[], fails_closed boolean, users text[], user_approvers_ids bigint[],
        groups text[], group_approvers_ids bigint[])),
    made as (
      insert into security_policies (policy_project_id, position, rank, name, description, enabled, problem, notes,
        rules, actions, only_projects, except_projects)
      select ${projectId}, w.position, w.rank, w.name, w.description, w.enabled, w.problem, w.notes, w.rules, w.actions,
        w.only_projects, w.except_projects
      from jsonb_to_recordset(${JSON.stringify(policies)}::jsonb) w (position int, rank int, name text,
        description text, enabled boolean, problem text, notes text[], rules jsonb, actions jsonb,
        only_projects bigint[], except_projects bigint[])
      returning id, position),
    held as (
      insert into approval_rules (policy_id, name, rule_type, approvals_required, approver_levels, fails_closed)
      select made.id, asked.name, 'report_approver', asked.approvals_required, asked.levels, asked.fails_closed
      from asked join made on made.position = asked.position
      returning id, policy_id, name),
    rule as (
      select held.id, asked.users, asked.user_approvers_ids, asked.groups, asked.group_approvers_ids
      from held join made on made.id = held.policy_id
        join asked on asked.position = made.position and asked.name = held.name),
    named as (
      insert into approval_rule_users (rule_id, user_id)
      select rule.id, u.id from rule cross join unnest(rule.users) given (name)
        join users u on lower(u.username) = given.name
      union
      select rule.id, u.id from rule cross join unnest(rule.user_approvers_ids) given (id)
        join users u on u.id = given.id)
    insert into approval_rule_groups (rule_id, namespace_id)
    select rule.id, g.id from rule cross join unnest(rule.groups) given (path)
      join routes r on r.path_key = given.path and not r.redirect
      join namespaces g on g.id = r.namespace_id and g.kind = 'group'
    union
    select rule.id, g.id from rule cross join unnest(rule.group_approvers_ids) given (id)
      join namespaces g on g.id = given.id and g.kind = 'group'`.execute(tx)
}
