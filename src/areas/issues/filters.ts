import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { withLabels, withoutLabels } from '../labels/index.ts'
import { isFound, matching, reactedTo } from '../noteables/index.ts'
import { searchedFields, type CommonFilter, type IssueFilter } from './params.ts'

type Condition = RawBuilder<unknown>

/** Conditions on issue `i` for the caller `actor`. `known`: on the labels `l` that the list knows; see `withLabels`. */
export function conditionsOf(filter: IssueFilter, known: Condition | undefined): Condition[] {
  const all: Condition[] = []
  const add = <T>(value: T | undefined, condition: (value: T) => Condition): void => {
    if (value !== undefined) all.push(condition(value))
  }
  all.push(...common(filter))
  all.push(...withLabels('Issue', sql`i.id`, filter.labels ?? [], known))
  // In the text, so that a plan for all values knows it, too: open issues have an index.
  add(filter.state === 'all' ? undefined : filter.state, (state) => sql`i.state = ${sql.lit(state)}`)
  add(filter.scope?.startsWith('all') === true ? undefined : filter.scope, scoped)
  add(filter.found, (found) => isFound(sql`i.id`, found))
  add(filter.planned_for, (id) => sql`i.milestone_id = ${id}`)
  const columns = searchedFields(filter).map((field) => sql.ref(`i.${field}`))
  add(filter.search?.trim() || undefined, (text) => matching(columns, text))
  add(filter.assignee_id, (value) => orWord(value, anyAssignee, (id) => assigned(sql`a.user_id = ${id}`)))
  add(filter.my_reaction_emoji, (name) => reactedTo('Issue', sql`i.id`, name))
  add(filter.confidential, (flag) => (flag ? sql`i.confidential` : sql`not i.confidential`))
  add(filter.created_after, (time) => sql`i.created_at >= ${time}`)
  add(filter.created_before, (time) => sql`i.created_at <= ${time}`)
  add(filter.updated_after, (time) => sql`i.updated_at >= ${time}`)
  add(filter.updated_before, (time) => sql`i.updated_at <= ${time}`)
  add(filter.due_date, (word) => dueDates[word]!)
  add(filter.issue_type, (type) => sql`i.issue_type = ${type}`)
  add(filter.weight, (value) =>
    orWord(value, sql`i.weight is not null`, (number) => sql`i.weight = ${number}::bigint`),
  )
  add(filter.epic_id, (value) => orWord(value, sql`i.epic_id is not null`, (id) => sql`i.epic_id = ${id}`))
  add(filter.health_status, (value) =>
    orWord(value, sql`i.health_status is not null`, () => sql`i.health_status = ${value}`),
  )
  const { not } = filter
  if (not !== undefined) {
    all.push(...common(not).map((condition) => sql`(${condition}) is not true`))
    all.push(...withoutLabels('Issue', sql`i.id`, not.labels ?? [], known))
    add(not.assignee_id, (id) => sql`not ${assigned(sql`a.user_id = ${id}`)}`)
    add(not.my_reaction_emoji, (name) => sql`not ${reactedTo('Issue', sql`i.id`, name)}`)
    add(not.weight, (number) => sql`i.weight is distinct from ${number}::bigint`)
    add(not.epic_id, (id) => sql`i.epic_id is distinct from ${id}::bigint`)
  }
  return all
}

/** Whether it names values of which one may be found at a million issues and another at three. */
export function hasValues(filter: IssueFilter): boolean {
  return conditionsOf({ ...filter, state: 'all' }, undefined).length > 0
}

function common(filter: CommonFilter): Condition[] {
  const all: Condition[] = []
  const add = <T>(value: T | undefined, condition: (value: T) => Condition): void => {
    if (value !== undefined) all.push(condition(value))
  }
  add(
    filter.iids?.length === 0 ? undefined : filter.iids,
    (iids) => sql`i.iid = any (${[...iids]}::bigint[])`,
  )
  add(filter.author_id, (id) => sql`i.author_id = ${id}`)
  add(filter.author_username, (name) => sql`i.author_id = ${userNamed(name)}`)
  add(filter.milestone, (title) => planned(title))
  add(filter.milestone_id, (word) => planned(word))
  for (const name of filter.assignee_username ?? []) all.push(assigned(sql`a.user_id = ${userNamed(name)}`))
  return all
}

const userNamed = (name: string): Condition =>
  sql`(select u.id from users u where lower(u.username) = ${name.toLowerCase()})`

const anyAssignee = sql`exists (select from issue_assignees a where a.issue_id = i.id)`

function assigned(to: Condition): Condition {
  return sql`exists (select from issue_assignees a where a.issue_id = i.id and ${to})`
}

function scoped(scope: string): Condition {
  return scope.startsWith('created') ? sql`i.author_id = actor.id` : assigned(sql`a.user_id = actor.id`)
}

/** `None` and `Any` in the letters that clients send, or a number. */
function orWord(value: string, any: Condition, is: (number: number) => Condition): Condition {
  const word = value.toLowerCase()
  if (word === 'none') return sql`not (${any})`
  return word === 'any' ? any : is(Number(value))
}

const today = sql`(now() at time zone 'utc')::date`

/** The milestone's title, or a word on it. Planned for one that has not begun is `Upcoming`, is under way `Started`. */
function planned(title: string): Condition {
  const of = (condition: Condition): Condition =>
    sql`i.milestone_id = any (array(select m.id from milestones m where ${condition}))`
  switch (title.toLowerCase()) {
    case 'none':
    case '0':
      return sql`i.milestone_id is null`
    case 'any':
      return sql`i.milestone_id is not null`
    case 'upcoming':
    case '#upcoming':
      return of(sql`m.state = 'active' and m.start_date > ${today}`)
    case 'started':
    case '#started':
      return of(sql`
        m.state = 'active' and m.start_date <= ${today} and (m.due_date is null or m.due_date >= ${today})`)
    default:
      return of(sql`m.title = ${title}`)
  }
}

/** Weeks and months as the calendar has them. */
const dueDates: Readonly<Record<string, Condition>> = {
  '0': sql`i.due_date is null`,
  any: sql`i.due_date is not null`,
  today: sql`i.due_date = ${today}`,
  tomorrow: sql`i.due_date = ${today} + 1`,
  overdue: sql`i.due_date < ${today}`,
  week: sql`i.due_date >= date_trunc('week', ${today})::date and i.due_date < date_trunc('week', ${today})::date + 7`,
  month: sql`i.due_date >= date_trunc('month', ${today})::date
    and i.due_date < (date_trunc('month', ${today}) + interval '1 month')::date`,
  next_month_and_previous_two_weeks: sql`i.due_date >= ${today} - 14
    and i.due_date < (date_trunc('month', ${today}) + interval '2 months')::date`,
}
