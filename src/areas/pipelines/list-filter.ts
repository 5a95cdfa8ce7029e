import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/* What of a project's pipelines is asked for, in SQL over `ci_pipelines p` and `subject`, the project. */

export interface ListFilter {
  readonly scope?: 'running' | 'pending' | 'finished' | 'branches' | 'tags' | undefined
  readonly status?: string | undefined
  readonly ref?: string | undefined
  readonly sha?: string | undefined
  readonly source?: string | undefined
  readonly name?: string | undefined
  readonly username?: string | undefined
  readonly yaml_errors?: boolean | undefined
  readonly updated_after?: Date | undefined
  readonly updated_before?: Date | undefined
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
  readonly order_by: 'id' | 'status' | 'ref' | 'updated_at' | 'user_id'
  readonly sort: 'asc' | 'desc'
}

const scopeStatuses = {
  running: ['running', 'canceling'],
  pending: ['pending'],
  finished: ['success', 'failed', 'canceled'],
}

/** The statuses that are asked for; a pipeline that is being canceled is shown as running. */
function statusesOf({ scope, status }: ListFilter): readonly string[] | undefined {
  const byScope =
    scope === undefined ? undefined : (scopeStatuses as Readonly<Record<string, string[]>>)[scope]
  if (status === undefined) return byScope
  const asked = status === 'running' ? scopeStatuses.running : [status]
  return byScope === undefined ? asked : asked.filter((one) => byScope.includes(one))
}

function severalStatusesOf(filter: ListFilter): readonly string[] | undefined {
  const statuses = statusesOf(filter)
  return statuses?.length === 1 ? undefined : statuses
}

/** Conditions on `p`, without project and source of children. `own`: `ref` does not mean merge requests. */
export function conditionsOf(filter: ListFilter, meanings: 'all' | 'own' = 'all'): RawBuilder<unknown>[] {
  const statuses = severalStatusesOf(filter)
  const { ref } = filter
  return [
    ...(statuses === undefined ? [] : [sql`p.status = any (${[...statuses]}::text[])`]),
    ...(ref === undefined ? [] : [meanings === 'all' ? anyOfRef(ref) : sql`p.ref = ${ref}`]),
    ...otherConditionsOf(filter),
  ]
}

function anyOfRef(ref: string): RawBuilder<unknown> {
  return sql`(p.ref = ${ref} or p.merge_request_id in (${requestsFrom(ref)}))`
}

/** The id of a user. */
export function userNamed(username: string): RawBuilder<unknown> {
  return sql`(select u.id from users u where lower(u.username) = lower(${username}))`
}

/** Ids of the project's merge requests, and of those that come from it. */
export function requestsFrom(branch: string): RawBuilder<unknown> {
  return sql`
    select m.id from merge_requests m
    where m.source_branch = ${branch} and (m.project_id = subject.id or m.source_project_id = subject.id)`
}

/**
 * What `ref` asks for: the pipelines of the ref itself, and those of merge requests from a branch of this name, which
 * are so few that each is looked up (offset 0 keeps the planner from walking all pipelines for them).
 */
function sourcesOf({ ref }: ListFilter): { from: RawBuilder<unknown>; where: RawBuilder<unknown>[] }[] {
  const from = sql`ci_pipelines p`
  if (ref === undefined) return [{ from, where: [] }]
  const requested = sql`(${requestsFrom(ref)} offset 0) m
    cross join lateral (select p.* from ci_pipelines p where p.merge_request_id = m.id offset 0) p`
  return [
    { from, where: [sql`p.ref = ${ref}`] },
    { from: requested, where: [] },
  ]
}

function otherConditionsOf(filter: ListFilter): RawBuilder<unknown>[] {
  const conditions: RawBuilder<unknown>[] = []
  const statuses = statusesOf(filter)
  if (statuses?.length === 1) conditions.push(sql`p.status = ${statuses[0]}`)
  if (filter.sha !== undefined) conditions.push(sql`p.sha = ${filter.sha}`)
  if (filter.source !== undefined) conditions.push(sql`p.source = ${filter.source}`)
  if (filter.name !== undefined) conditions.push(sql`p.name = ${filter.name}`)
  if (filter.username !== undefined) {
    conditions.push(sql`p.user_id = ${userNamed(filter.username)}`)
  }
  if (filter.yaml_errors !== undefined) {
    conditions.push(filter.yaml_errors ? sql`p.yaml_errors is not null` : sql`p.yaml_errors is null`)
  }
  if (filter.updated_after !== undefined) conditions.push(sql`p.updated_at > ${filter.updated_after}`)
  if (filter.updated_before !== undefined) conditions.push(sql`p.updated_at < ${filter.updated_before}`)
  if (filter.created_after !== undefined) conditions.push(sql`p.created_at > ${filter.created_after}`)
  if (filter.created_before !== undefined) conditions.push(sql`p.created_at < ${filter.created_before}`)
  return conditions
}

const inProject = sql`p.project_id = subject.id`
const placeOfChildren = [inProject, sql`p.source = 'parent_pipeline'`]
const placeOfOthers = [inProject, sql`p.source <> 'parent_pipeline'`]

/** Children are listed only where they are asked for. */
export function placeOf({ source }: ListFilter): readonly RawBuilder<unknown>[] {
  return source === 'parent_pipeline' ? placeOfChildren : placeOfOthers
}

export function whereOf(
  conditions: readonly RawBuilder<unknown>[],
  from = sql`ci_pipelines p`,
): RawBuilder<unknown> {
  return sql`from ${from} where ${sql.join([...conditions], sql` and `)}`
}

/**
 * The same in parts, of which no two have the same pipeline: each status, and each meaning of `ref`, has its own stretch of
 * an index, in order.
 */
export function stretchesOf(filter: ListFilter): RawBuilder<unknown>[] {
  const statuses = severalStatusesOf(filter)?.map((status) => [sql`p.status = ${status}`]) ?? [[]]
  const rest = [...placeOf(filter), ...otherConditionsOf(filter)]
  return statuses.flatMap((status) =>
    sourcesOf(filter).map(({ from, where }) => whereOf([...rest, ...status, ...where], from)),
  )
}

/* Made once: a name that is checked and frozen for each call costs more than all else of a list. */
const columns = {
  status: sql`p.status`,
  ref: sql`p.ref`,
  updated_at: sql`p.updated_at`,
  user_id: sql`p.user_id`,
}
const directions = { asc: sql`asc`, desc: sql`desc` }

/** Ties are broken by id, in the same direction, so that an index on the column answers both. */
export function orderOf({ order_by, sort }: ListFilter): RawBuilder<unknown> {
  const direction = directions[sort]
  return order_by === 'id'
    ? sql`p.iid ${direction}`
    : sql`${columns[order_by]} ${direction}, p.iid ${direction}`
}
