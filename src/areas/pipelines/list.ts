import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  countedRows,
  countLimit,
  inColumns,
  windowOf,
  type PageInput,
  type Print,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { largestPage } from '../../kernel/endpoint/pagination.ts'
import { blockSizes, iidBefore, startOf } from './blocks.ts'
import type { PipelineSummaryRow } from './entities.ts'
import {
  conditionsOf,
  orderOf,
  placeOf,
  requestsFrom,
  stretchesOf,
  userNamed,
  whereOf,
  type ListFilter,
} from './list-filter.ts'
import { summaryColumns, summaryNames } from './store.ts'

/**
 * One page of a project's pipelines. A first page is read along an index; for others an index alone tells the iids of
 * the page, then come its rows. The total of an unfiltered list is known, and where its page begins is found in the
 * counts of `ci_pipeline_blocks`, so that no page of a million costs more than the first. `longUntil`: it is known from
 * before that there are over 10,000, which is believed until this time, in milliseconds since the Unix epoch.
 */
export function list(
  filter: ListFilter,
  input: PageInput,
  { longUntil }: { longUntil?: number | undefined } = {},
): Read<PipelineSummaryRow> {
  const isLong = longUntil !== undefined
  const conditions = conditionsOf(filter)
  const isFiltered = conditions.length > 0
  const stretches = isFiltered ? stretchesOf(filter) : []
  const total = !isFiltered ? known : isLong ? long : counted(filter, stretches)
  const select = rowsOf({ filter, conditions, stretches }, input, isLong)
  const bounded = isBounded(filter, conditions.length, input.offset)
  return {
    kind: 'page',
    bounded,
    sql: pageOf(select(summaryColumns), input, total),
    print: () => ({
      ...(isLasting(filter) ? lastingPrint(filter, select) : printOf(select, { total, bounded, isLong })),
      // What is believed until then is in the answer.
      ...(isLong && { until: longUntil }),
    }),
  }
}

/** Makes the statement of the rows of a page and one more, in order, from the columns of `p` that are wanted. */
type Select = (columns: RawBuilder<unknown>) => RawBuilder<unknown>

/** A filter, and what is made of it once. */
interface Asked {
  readonly filter: ListFilter
  readonly conditions: readonly RawBuilder<unknown>[]
  readonly stretches: readonly RawBuilder<unknown>[]
}

function rowsOf({ filter, conditions, stretches }: Asked, input: PageInput, isLong: boolean): Select {
  const inOrderOfIid = filter.order_by === 'id'
  if (conditions.length === 0 && inOrderOfIid) return unfiltered(filter, input)
  const where = whereOf([...placeOf(filter), ...conditions])
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

/** The page is put together of the first of each stretch. */
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

/** The order makes it go by the index of the filter, however large the project is taken for. */
function counted(filter: ListFilter, stretches: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  const byUpdate = filter.updated_after !== undefined || filter.updated_before !== undefined
  const order = byUpdate ? sql`order by p.updated_at desc` : sql`order by p.iid desc`
  const parts = stretches.map((where) => sql`(select 1 ${where} ${order} ${countedRows})`)
  const [first] = parts
  if (first === undefined) return sql`0::bigint`
  if (parts.length === 1) return sql`(select count(*) from ${first} c)`
  return sql`(select count(*) from (${sql.join(parts, sql` union all `)} ${countedRows}) c)`
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
  const where = whereOf(placeOf(filter))
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

const columns = inColumns(summaryNames)

/** `rows`: those of the page, in order, and one more. */
function pageOf(
  rows: RawBuilder<unknown>,
  { limit, offset }: PageInput,
  total: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(
    select json_build_object('columns', ${columns}, 'total',
      case
        when count(*) between 1 and ${limit} or ${offset}::int = 0 and count(*) = 0 then ${offset}::int + count(*)
        else ${total}
      end)
    from (${rows}) r)`
}

/** A row that was written again has another transaction. */
const version = sql`hash_record_extended(row(p.id, p.xmin), 0)`
const versions = sql`coalesce(bit_xor(r.version), 0)`

/** The page has the same rows in the same versions, and the total is the same. */
function printOf(
  select: Select,
  { total, bounded, isLong }: { total: RawBuilder<unknown>; bounded: boolean; isLong: boolean },
): Print {
  const text = sql`(select concat(${total}, ' ', ${versions}) from (${select(sql`${version} as version`)}) r)`
  return {
    text,
    holds(before) {
      // It would be counted each time; who asks next knows that it is long.
      const isNowLong = !isLong && Number.parseInt(before, 10) > countLimit
      return isNowLong ? sql`false` : sql`${text} = ${before}`
    },
    bounded,
  }
}

/** Whether what becomes of a pipeline moves it into no other page: only that one comes, goes or has another name. */
function isLasting({ scope, status, updated_after, updated_before, order_by }: ListFilter): boolean {
  return (
    order_by === 'id' && [scope, status, updated_after, updated_before].every((value) => value === undefined)
  )
}

/**
 * The list has the same pipelines, so the page has, too, and they are looked at where they were stored: a row that was
 * written again is elsewhere, and what is there instead is of another version.
 */
function lastingPrint(filter: ListFilter, select: Select): Print {
  const same = pipelinesOf(filter)
  const columns = sql`p.ctid as place, ${version} as version`
  return {
    text: sql`(
      select concat(coalesce(array_agg(r.place)::text, '{}'), ' ', ${versions}, ' ', ${same}) from (${select(columns)}) r)`,
    holds(text) {
      const end = text.indexOf(' ')
      return sql`
        concat((
          select ${versions} from (
            select ${version} as version from ci_pipelines p where p.ctid = any (${text.slice(0, end)}::text::tid[])) r),
          ' ', ${same}) = ${text.slice(end + 1)}`
    },
    bounded: true,
  }
}

/** Every pipeline that comes, goes or has another name writes the same counter. */
function pipelinesOf({ ref, username }: ListFilter): RawBuilder<unknown> {
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
