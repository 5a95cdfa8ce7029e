import { sql, type RawBuilder } from 'kysely'
import {
  countedRows,
  countLimit,
  inColumns,
  windowOf,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { largestPage } from '../../kernel/endpoint/pagination.ts'
import { blockSizes, iidBefore, startOf } from './blocks.ts'
import type { PipelineSummaryRow } from './entities.ts'
import { summaryColumns, summaryNames } from './store.ts'

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

/* Made once: to check a name and to freeze what is made of it costs more than a whole list is to be put together. */
const columns = {
  iid: sql`p.iid`,
  status: sql`p.status`,
  ref: sql`p.ref`,
  updated_at: sql`p.updated_at`,
  user_id: sql`p.user_id`,
}
const directions = { asc: sql`asc`, desc: sql`desc` }
const rowsInColumns = inColumns(summaryNames)

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
  const ofRef =
    meanings === 'all'
      ? sql`(p.ref = ${ref} or p.merge_request_id in (${requestsFrom(ref!)}))`
      : sql`p.ref = ${ref}`
  return [
    ...(statuses === undefined ? [] : [sql`p.status = any (${[...statuses]}::text[])`]),
    ...(ref === undefined ? [] : [ofRef]),
    ...otherConditionsOf(filter),
  ]
}

function userNamed(username: string): RawBuilder<unknown> {
  return sql`(select u.id from users u where lower(u.username) = lower(${username}))`
}

function requestsFrom(branch: string): RawBuilder<unknown> {
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

/** Ties are broken by id, in the same direction, so that an index on the column answers both. */
export function orderOf({ order_by, sort }: ListFilter): RawBuilder<unknown> {
  const direction = directions[sort]
  return order_by === 'id'
    ? sql`p.iid ${direction}`
    : sql`${columns[order_by]} ${direction}, p.iid ${direction}`
}

/**
 * One page of a project's pipelines. A first page is read along an index; for others an index alone tells the iids of
 * the page, then come its rows. The total of an unfiltered list is known, and where its page begins is found in the
 * counts of `ci_pipeline_blocks`, so that no page of a million costs more than the first. `isLong`: that there are over
 * 10,000 is known from before.
 */
export function list(
  filter: ListFilter,
  input: PageInput,
  { isLong = false }: { isLong?: boolean } = {},
): Read<PipelineSummaryRow> {
  const conditions = conditionsOf(filter)
  const isFiltered = conditions.length > 0
  const stretches = isFiltered ? stretchesOf(filter) : []
  const total = !isFiltered ? known : isLong ? long : counted(filter, stretches)
  const totalPrint = isFiltered && !isLong && isLasting(filter) ? lastingPrint(filter) : total
  const select = rowsOf({ filter, conditions, stretches }, input, isLong)
  return {
    kind: 'page',
    bounded: isBounded(filter, conditions.length, input.offset),
    // Which of the two is wanted is known later.
    get sql() {
      return pageOf(select(summaryColumns), input, total)
    },
    get print() {
      return printOf(select(version), totalPrint)
    },
  }
}

/** Makes the statement of the rows of a page and one more, in order, from the columns of `p` that are wanted. */
type Select = (columns: RawBuilder<unknown>) => RawBuilder<unknown>

/** What is asked for, as conditions on `p` and as the stretches of the indices by iid that have just this. */
interface Asked {
  readonly filter: ListFilter
  readonly conditions: readonly RawBuilder<unknown>[]
  readonly stretches: readonly RawBuilder<unknown>[]
}

function rowsOf({ filter, conditions, stretches }: Asked, input: PageInput, isLong: boolean): Select {
  const inOrderOfIid = filter.order_by === 'id'
  if (conditions.length === 0 && inOrderOfIid) return unfiltered(filter, input)
  const where = whereOf([...place(filter), ...conditions])
  // Of a long list the newest soon make a page.
  const isRecent = inOrderOfIid && filter.updated_after !== undefined && !isLong
  const isOneStretch = !inOrderOfIid || stretches.length < 2
  if (input.offset === 0 && isOneStretch && !isRecent) {
    return along(sql`${where} ${within(filter)}`, filter, input)
  }
  const walk = inOrderOfIid
    ? inStretches(stretches, filter, input)
    : sql`select p.iid ${where} ${within(filter)} order by ${orderOf(filter)} ${windowOf(input)}`
  return ofIids(isRecent ? recent(where, walk, filter, input) : walk, filter, input)
}

/** The rows of a first page. */
function along(where: RawBuilder<unknown>, filter: ListFilter, { limit }: PageInput): Select {
  return (columns) => sql`
    select w.* from (
      select ${columns} ${where} order by ${orderOf(filter)} ${windowOf({ offset: 0 })}) w limit ${limit + 1}`
}

/** The rows of these iids, which are in their order already. */
function ofIids(iids: RawBuilder<unknown>, filter: ListFilter, { limit }: PageInput): Select {
  return (columns) => sql`
    select ${columns} from (select w.iid from (${iids}) w limit ${limit + 1}) page
    join ci_pipelines p on p.project_id = subject.id and p.iid = page.iid order by ${orderOf(filter)}`
}

const long = sql`${sql.lit(countLimit + 1)}::bigint`

function whereOf(
  conditions: readonly RawBuilder<unknown>[],
  from = sql`ci_pipelines p`,
): RawBuilder<unknown> {
  return sql`from ${from} where ${sql.join([...conditions], sql` and `)}`
}

/** Each status, and each meaning of `ref`, has its own stretch of an index, in order; of these the page is put together. */
function inStretches(
  stretches: readonly RawBuilder<unknown>[],
  filter: ListFilter,
  input: PageInput,
): RawBuilder<unknown> {
  const order = orderOf(filter)
  if (stretches.length === 0) return sql`select p.iid from ci_pipelines p where false`
  if (stretches.length === 1) {
    return sql`select p.iid ${stretches[0]!} ${within(filter)} order by ${order} ${windowOf(input)}`
  }
  const enough = input.offset + largestPage + 1
  const parts = stretches.map(
    (where) => sql`(select p.iid ${where} ${within(filter)} order by ${order} limit ${enough})`,
  )
  return sql`
    select p.iid from (${sql.join(parts, sql` union all `)}) p order by ${order} ${windowOf(input)}`
}

/** No pipeline is in two of them. */
function stretchesOf(filter: ListFilter): RawBuilder<unknown>[] {
  const statuses = severalStatusesOf(filter)?.map((status) => [sql`p.status = ${status}`]) ?? [[]]
  const rest = [...place(filter), ...otherConditionsOf(filter)]
  return statuses.flatMap((status) =>
    sourcesOf(filter).map(({ from, where }) => whereOf([...rest, ...status, ...where], from)),
  )
}

/** The order makes it go by the index of the filter, however large the project is taken for. */
function counted(filter: ListFilter, stretches: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  const column =
    filter.updated_after === undefined && filter.updated_before === undefined ? 'iid' : 'updated_at'
  const order = sql`order by ${columns[column]} desc`
  const parts = stretches.map((where) => sql`(select 1 ${where} ${order} ${countedRows})`)
  const [first] = parts
  if (first === undefined) return sql`0::bigint`
  if (parts.length === 1) return sql`(select count(*) from ${first} c)`
  return sql`(select count(*) from (${sql.join(parts, sql` union all `)} ${countedRows}) c)`
}

const inProject = sql`p.project_id = subject.id`
const placeOfChildren = [inProject, sql`p.source = 'parent_pipeline'`]
const placeOfOthers = [inProject, sql`p.source <> 'parent_pipeline'`]

function place({ source }: ListFilter): readonly RawBuilder<unknown>[] {
  return source === 'parent_pipeline' ? placeOfChildren : placeOfOthers
}

const known = sql`coalesce((
  select c.live from project_counters c where c.project_id = subject.id and c.kind = 'pipeline'), 0)`

/** What was updated before a time was created before it: the walk begins in the block of that time. */
function within({ updated_before, created_before }: ListFilter): RawBuilder<unknown> {
  const before = updated_before ?? created_before
  if (before === undefined) return sql``
  return sql`and p.iid < ${iidBefore(before)}`
}

/** Updates that few pipelines have seen are looked up and put in order; of many, the newest soon make a page. */
const fewUpdates = 1000

function recent(
  where: RawBuilder<unknown>,
  walk: RawBuilder<unknown>,
  { sort }: ListFilter,
  input: PageInput,
): RawBuilder<unknown> {
  return sql`
    with few as materialized (select p.iid ${where} order by p.updated_at desc limit ${sql.lit(fewUpdates + 1)}),
    counted as materialized (select count(*) <= ${fewUpdates} as enough from few)
    (select p.iid from few p where (select c.enough from counted c)
      order by p.iid ${sql.raw(sort)} ${windowOf(input)})
    union all
    (select w.iid from (${walk}) w where not (select c.enough from counted c))`
}

function unfiltered(filter: ListFilter, input: PageInput): Select {
  const { offset, limit } = input
  const where = whereOf(place(filter))
  const order = orderOf(filter)
  if (offset === 0) return along(where, filter, input)
  if (offset < blockSizes.at(-1)!) {
    return ofIids(sql`select p.iid ${where} order by ${order} ${windowOf(input)}`, filter, input)
  }
  const from = (iid: string): RawBuilder<unknown> =>
    sql`${where} and p.iid ${sql.raw(filter.sort === 'asc' ? '>=' : '<=')} ${sql.ref(iid)} order by ${order}`
  return (columns) => sql`
    select w.* from (${startOf(offset, filter.sort)}) start
    cross join lateral (select p.iid ${from('start.iid')} offset start.skipped limit 1) first
    cross join lateral (select ${columns} ${from('first.iid')} limit ${sql.lit(largestPage + 1)}) w
    limit ${limit + 1}`
}

/** `rows`: those of the page, in order, and one more. */
function pageOf(
  rows: RawBuilder<unknown>,
  { limit, offset }: PageInput,
  total: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(
    select json_build_object('columns', ${rowsInColumns}, 'total',
      case
        when count(*) between 1 and ${limit} or ${offset}::int = 0 and count(*) = 0 then ${offset}::int + count(*)
        else ${total}
      end)
    from (${rows}) r)`
}

/** A row that was written again has another transaction. */
const version = sql`p.iid, p.xmin::text as version`

/** The page has the same rows in the same versions, and the total is the same. */
function printOf(rows: RawBuilder<unknown>, total: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select concat(md5(string_agg(concat(r.iid, '.', r.version), ' ')), ' ', ${total}) from (${rows}) r)`
}

/** Whether what becomes of a pipeline is no matter: only that it comes, goes or has another name. */
function isLasting({ scope, status, updated_after, updated_before }: ListFilter): boolean {
  return [scope, status, updated_after, updated_before].every((value) => value === undefined)
}

/** Every pipeline that comes, goes or has another name writes the same counter. */
function lastingPrint({ ref, username }: ListFilter): RawBuilder<unknown> {
  const counter = sql`(
    select c.xmin from project_counters c where c.project_id = subject.id and c.kind = 'pipeline')`
  const requests =
    ref === undefined ? sql`''` : sql`(select string_agg(m.id::text, ' ') from (${requestsFrom(ref)}) m)`
  const user = username === undefined ? sql`''` : userNamed(username)
  return sql`concat(${counter}, ' ', ${requests}, ' ', ${user})`
}

/**
 * With one condition there is an index that has the page in order, walked from its begin; with more, rows may be passed
 * over without bound.
 */
function isBounded({ order_by }: ListFilter, conditions: number, offset: number): boolean {
  const isUsual = order_by === 'id'
  if (conditions === 0 && isUsual) return true
  return conditions <= (isUsual ? 1 : 0) && offset <= 1000
}
