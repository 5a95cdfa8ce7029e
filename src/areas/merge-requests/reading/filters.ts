import type { RawBuilder } from 'kysely'
import { sql } from '../../../kernel/db/index.ts'
import { withLabels, withoutLabels } from '../../labels/index.ts'
import { reactedTo } from '../../noteables/index.ts'
import { approvalsMissing } from '../approvals/missing.ts'
import type { MergeRequestFilter, NotFilter } from './filter-params.ts'

export type Condition = RawBuilder<unknown>

const userNamed = (name: string): Condition =>
  sql`(select named.id from users named where lower(named.username) = ${name.toLowerCase()})`

type People = 'merge_request_assignees' | 'merge_request_reviewers' | 'merge_request_approvals'

const hasAnyone = (table: People): Condition =>
  sql`exists (select from ${sql.table(table)} x where x.merge_request_id = m.id)`
const has = (table: People, user: Condition): Condition =>
  sql`exists (select from ${sql.table(table)} x where x.merge_request_id = m.id and x.user_id = ${user})`
const isNot = (condition: Condition): Condition => sql`not (${condition})`

const isWord = (value: unknown, word: 'none' | 'any'): boolean =>
  typeof value === 'string' && value.toLowerCase() === word

function person(table: People, value: number | string): Condition {
  if (isWord(value, 'any')) return hasAnyone(table)
  if (isWord(value, 'none') || value === 0) return isNot(hasAnyone(table))
  return has(table, sql`${Number(value)}::bigint`)
}

/** Everybody of a list; or nobody, or anybody at all. */
function everyone(
  people: readonly (string | number)[],
  one: (user: Condition) => Condition,
  any: Condition,
): Condition {
  if (people.some((value) => isWord(value, 'any'))) return any
  if (people.some((value) => isWord(value, 'none'))) return isNot(any)
  return sql.join([sql`true`, ...people.map((id) => one(sql`${id}::bigint`))], sql` and `)
}

/** Who may approve by a rule of the request or its project. */
const mayApprove = (user: Condition): Condition => sql`exists (
  select from approval_rules r join approval_rule_users ru on ru.rule_id = r.id
  where (r.merge_request_id = m.id or (r.project_id = m.project_id and r.merge_request_id is null)) and ru.user_id = ${user})`
const hasApprover: Condition = sql`exists (
  select from approval_rules r join approval_rule_users ru on ru.rule_id = r.id
  where r.merge_request_id = m.id or (r.project_id = m.project_id and r.merge_request_id is null))`

function searched(text: string, within: string | undefined): Condition {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const fields = (within ?? 'title,description').split(',').map((field) => field.trim())
  const columns = (['title', 'description'] as const).filter((column) => fields.includes(column))
  if (columns.length === 0) return sql`false`
  const found = columns.map((column) => sql`${sql.ref(`m.${column}`)} ilike ${pattern}`)
  return sql`(${sql.join(found, sql` or `)})`
}

/** Deployments that had its merge, of which the first success counts. */
function deployed({
  environment,
  deployed_after: after,
  deployed_before: before,
}: MergeRequestFilter): Condition {
  const name = environment === undefined ? sql`` : sql`and e.name = ${environment}`
  const since = after === undefined ? sql`` : sql`and d.finished_at >= ${after}`
  const until = before === undefined ? sql`` : sql`and d.finished_at <= ${before}`
  return sql`exists (
    select from deployments d join environments e on e.id = d.environment_id
    where d.project_id = m.project_id and d.status = 'success'
      and d.sha in (m.merge_commit_sha, m.merged_sha) ${name} ${since} ${until})`
}

/** Conditions on a merge request `m`. Those on its state and people stand first: indexes answer them. */
export function conditionsOf(params: MergeRequestFilter): Condition[] {
  const all: Condition[] = []
  const add = <T>(value: T | undefined, condition: (value: T) => Condition): void => {
    if (value !== undefined) all.push(condition(value))
  }
  if (params.state !== 'all') all.push(sql`m.state = ${params.state}`)
  add(
    params.iids?.length === 0 ? undefined : params.iids,
    (iids) => sql`m.iid = any (${[...iids]}::bigint[])`,
  )
  add(params.author_id, (id) => sql`m.author_id = ${id}`)
  add(params.author_username, (name) => sql`m.author_id = ${userNamed(name)}`)
  add(params.assignee_id, (value) => person('merge_request_assignees', value))
  add(params.assignee_username, (all) => namesOf('merge_request_assignees', all))
  add(params.reviewer_id, (value) => person('merge_request_reviewers', value))
  add(params.reviewer_username, (name) => has('merge_request_reviewers', userNamed(name)))
  add(params.approver_ids, (people) => everyone(people, mayApprove, hasApprover))
  add(params.approved_by_ids, (people) =>
    everyone(people, (user) => has('merge_request_approvals', user), hasAnyone('merge_request_approvals')),
  )
  add(params.approved_by_usernames, (names) => namesOf('merge_request_approvals', names))
  add(params.approved, (word) =>
    word === 'yes'
      ? sql`${hasAnyone('merge_request_approvals')} and not ${approvalsMissing}`
      : sql`(${isNot(hasAnyone('merge_request_approvals'))} or ${approvalsMissing})`,
  )
  add(params.merge_user_id, (id) => sql`m.merge_user_id = ${id}`)
  add(params.merge_user_username, (name) => sql`m.merge_user_id = ${userNamed(name)}`)
  add(params.search === '' ? undefined : params.search, (text) => searched(text, params.in))
  add(params.source_branch, (branch) => sql`m.source_branch = ${branch}`)
  add(params.target_branch, (branch) => sql`m.target_branch = ${branch}`)
  add(params.source_project_id, (id) => sql`m.source_project_id = ${id}`)
  add(params.draft ?? (params.wip === undefined ? undefined : params.wip === 'yes'), (draft) =>
    draft ? sql`m.draft` : sql`not m.draft`,
  )
  add(params.created_after, (time) => sql`m.created_at >= ${time}`)
  add(params.created_before, (time) => sql`m.created_at <= ${time}`)
  add(params.updated_after, (time) => sql`m.updated_at >= ${time}`)
  add(params.updated_before, (time) => sql`m.updated_at <= ${time}`)
  all.push(...withLabels('MergeRequest', sql`m.id`, params.labels ?? []))
  add(params.milestone, planned)
  add(params.my_reaction_emoji, (name) => reactedTo('MergeRequest', sql`m.id`, name))
  if ((params.environment ?? params.deployed_after ?? params.deployed_before) !== undefined)
    all.push(deployed(params))
  add(params.not, (not) => sql.join([sql`true`, ...negations(not)], sql` and `))
  return all
}

const today = sql`(now() at time zone 'utc')::date`

/** The title of a milestone, or a word on it. */
function planned(title: string): Condition {
  const of = (condition: Condition): Condition =>
    sql`m.milestone_id in (select plan.id from milestones plan where ${condition})`
  switch (title.toLowerCase()) {
    case 'none':
    case '0':
      return sql`m.milestone_id is null`
    case 'any':
      return sql`m.milestone_id is not null`
    case 'upcoming':
    case '#upcoming':
      return of(sql`plan.state = 'active' and plan.start_date > ${today}`)
    case 'started':
    case '#started':
      return of(sql`
        plan.state = 'active' and plan.start_date <= ${today}
          and (plan.due_date is null or plan.due_date >= ${today})`)
    default:
      return of(sql`plan.title = ${title}`)
  }
}

function namesOf(table: People, names: readonly string[]): Condition {
  const [only] = names
  if (names.length === 1 && isWord(only, 'any')) return hasAnyone(table)
  if (names.length === 1 && isWord(only, 'none')) return isNot(hasAnyone(table))
  return sql.join([sql`true`, ...names.map((name) => has(table, userNamed(name)))], sql` and `)
}

function negations(not: NotFilter): Condition[] {
  const all: Condition[] = []
  const add = <T>(value: T | undefined, condition: (value: T) => Condition): void => {
    if (value !== undefined) all.push(condition(value))
  }
  add(not.author_id, (id) => sql`m.author_id is distinct from ${id}`)
  add(not.author_username, (name) => sql`m.author_id is distinct from ${userNamed(name)}`)
  add(not.assignee_id, (id) => isNot(has('merge_request_assignees', sql`${id}::bigint`)))
  add(not.assignee_username, (names) =>
    sql.join(
      [sql`true`, ...names.map((name) => isNot(has('merge_request_assignees', userNamed(name))))],
      sql` and `,
    ),
  )
  add(not.reviewer_id, (id) => isNot(has('merge_request_reviewers', sql`${id}::bigint`)))
  add(not.reviewer_username, (name) => isNot(has('merge_request_reviewers', userNamed(name))))
  all.push(...withoutLabels('MergeRequest', sql`m.id`, not.labels ?? []))
  add(not.milestone, (title) => sql`(${planned(title)}) is not true`)
  add(not.my_reaction_emoji, (name) => isNot(reactedTo('MergeRequest', sql`m.id`, name)))
  add(not.source_branch, (branch) => sql`m.source_branch <> ${branch}`)
  add(not.target_branch, (branch) => sql`m.target_branch <> ${branch}`)
  return all
}
