import type { RawBuilder } from 'kysely'
import { issueVisible, issueVisibleAnywhere } from '../../access/index.ts'
import { plannedByValues, sql } from '../../kernel/db/index.ts'
import {
  countedRows,
  Page,
  readCursor,
  refuseDeepOffset,
  rows,
  wantsKeyset,
  writeCursor,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { invalidParameters } from '../../kernel/errors/index.ts'
import { labelled } from '../labels/index.ts'
import { rankOf } from '../noteables/index.ts'
import type { IssueRow } from './entities.ts'
import { conditionsOf, hasValues } from './filters.ts'
import { joinedKey, keyOf, partsOf, type KnownThere, type OrderedPart } from './orders.ts'
import type { IssueFilter, Order } from './params.ts'
import { issueColumns, issueSource } from './rows.ts'

/** Where issues are looked for, and which of them the caller may see there. */
interface Extent {
  /** What `i` is joined with to tell. */
  readonly joins: RawBuilder<unknown>
  readonly visible: RawBuilder<unknown>
  /** The labels `l` that are known there; undefined: too many to name them. */
  readonly labels?: RawBuilder<unknown>
  /** What orders go by there: see `partsOf`. */
  readonly known?: KnownThere
}

const ofProject: Extent = {
  joins: sql``,
  visible: sql`i.project_id = subject.id and ${issueVisible}`,
  labels: sql`(l.project_id = subject.id or l.namespace_id = any (subject.line))`,
  known: {
    milestones: sql`(dm.project_id = subject.id or dm.namespace_id = any (subject.line))`,
    priorities: sql`pr.project_id = subject.id`,
  },
}

const anywhere = (condition: RawBuilder<unknown>, nonArchived: boolean): RawBuilder<unknown> =>
  sql`${issueVisibleAnywhere} and ${condition} ${nonArchived ? sql`and not p.archived` : sql``}`

/** `subject` is the group: all that is in it and below. */
const ofGroup = (nonArchived: boolean): Extent => ({
  joins: sql`join projects p on p.id = i.project_id join namespaces n on n.id = p.namespace_id`,
  visible: anywhere(sql`n.traversal_ids @> array[subject.id]`, nonArchived),
})

const ofAll = (nonArchived: boolean): Extent => ({
  joins: sql`join projects p on p.id = i.project_id`,
  visible: anywhere(sql`true`, nonArchived),
})

export type Where = 'project' | 'group' | 'instance'

function extentOf(where: Where, nonArchived: boolean): Extent {
  if (where === 'project') return ofProject
  return where === 'group' ? ofGroup(nonArchived) : ofAll(nonArchived)
}

export interface ListInput extends IssueFilter {
  readonly order_by: Order
  readonly sort: 'asc' | 'desc'
  readonly with_labels_details: boolean
  readonly pagination: string
  readonly cursor?: string | undefined
}

/** A row of a list with keyset pagination tells where it stands. */
export type ListedIssue = IssueRow & { readonly sort_key: string | null; readonly more: boolean }

/**
 * One page of issues. Ids come first, by the conditions and in their order; what is shown of them is read for those of
 * the page alone. Of labels nobody knows how many issues have them: if few have, the page is made of these; else the
 * list is walked in its order and the labels asked of each, or, where the order is of parts, which those with the label
 * may all be missing from, all of these are put in order. Of parts the next is walked where those before are not enough.
 */
export function list(where: Where, input: ListInput, page: PageInput): Read<ListedIssue> {
  const keyset = wantsKeyset(input, input.order_by === 'created_at' || input.order_by === 'updated_at')
  if (!keyset) refuseDeepOffset(page, 'Issue')
  const source = sourceOf(where, input)
  const planned = hasValues(input) ? plannedByValues : sql``
  const descending = goesDown(input)
  const direction = descending ? sql`desc ${lastNulls(input)}` : sql`asc`
  const back = descending ? sql`desc` : sql`asc`
  const after = (key: RawBuilder<unknown>) => (keyset ? cursorCondition(input, key, descending) : sql`true`)
  const offset = keyset ? sql`` : sql`offset ${page.offset}`
  const ordered = (keys: readonly RawBuilder<unknown>[], id: RawBuilder<unknown>) =>
    sql`order by ${sql.join([...keys.map((key) => sql`${key} ${direction}`), sql`${id} ${back}`])}`
  const whole = (
    { from, where: which }: Origin,
    when: RawBuilder<unknown>,
    key = input.found === undefined ? keyOf(input.order_by) : rankOf(sql`i.id`, input.found),
  ) => sql`
    (select i.id, ${key} as key ${from} where ${which} and ${after(key)} and ${when} ${ordered([key], sql`i.id`)}
      limit ${page.limit + 1} ${offset})`
  const { known } = extentOf(where, true)
  const parts = known && partsOf(input.order_by, known)
  const inParts = ({ from, where: which }: Origin): RawBuilder<unknown> => {
    const enough = page.offset + page.limit + 1
    const name = (place: number) => sql.raw(`part_${place}`)
    const tables = inTurn(parts!, input).map(({ key, order = [key], where: of, groups }, place) => {
      const before = Array.from({ length: place }, (_, other) => sql`(select count(*) from ${name(other)})`)
      const missing = sql`${sql.join([sql`0`, ...before], sql` + `)} < ${enough}`
      const part = sql`
        (select i.id, ${key} as key ${from} where ${which} and ${of} and ${missing} ${ordered(order, sql`i.id`)}
          limit ${enough})`
      const all =
        groups === undefined
          ? part
          : sql`
            select part.id, part.key from (${groups} order by at ${back}) g cross join lateral ${part} part
            limit ${enough}`
      return sql`${name(place)} as materialized (${all})`
    })
    const each = tables.map((_, place) => sql`select p.id, p.key from ${name(place)} p`)
    return sql`
      (with ${sql.join(tables)}
        select part.id, part.key from (${sql.join(each, sql` union all `)}) part
          ${ordered([sql`part.key`], sql`part.id`)} limit ${page.limit + 1} ${offset})`
  }
  const keyed = known && joinedKey(input.order_by, known)
  const { all, labelled: of } = source
  const found = ((): RawBuilder<unknown> => {
    if (of === undefined) return parts === undefined ? whole(all, sql`true`) : inParts(all)
    const many =
      keyed === undefined
        ? whole(all, of.many)
        : whole({ ...of.set, from: sql`${of.set.from} ${keyed.joins}` }, of.many, keyed.key)
    return sql`${whole(of.picked, of.few)} union all ${many}`
  })()
  const detail = sql`
    select f.key, f.id, row.detail
    from (select f.id, f.key, lead(f.id) over in_order is not null as more from found f
      window in_order as (order by f.key ${direction}, f.id ${back})) f
    cross join lateral (
      select to_json(shown) as detail from (
        select ${issueColumns({ details: input.with_labels_details })}, f.more,
          ${keyset ? sql`f.key` : sql`null`} as sort_key
        from ${issueSource} where i.id = f.id) shown) row`
  const listed = sql`coalesce(json_agg(r.detail order by r.key ${direction}, r.id ${back}), '[]'::json)`
  if (keyset) {
    return {
      kind: 'rows',
      sql: sql`(${planned}
        with ${source.given} found as (${found}) select json_build_object('rows', ${listed}) from (${detail}) r)`,
    }
  }
  const count = ({ from, where: which }: Origin, when: RawBuilder<unknown>) =>
    sql`(select 1 ${from} where ${which} and ${when} ${countedRows})`
  const counted =
    of === undefined
      ? count(all, sql`true`)
      : sql`${count(of.picked, of.few)} union all ${count(of.rarest, of.many)}`
  return {
    kind: 'page',
    sql: sql`(${planned}
      with ${source.given} found as (${found})
      select json_build_object('rows', ${listed}, 'total',
        case
          when count(*) between 1 and ${page.limit} or ${page.offset}::int = 0 and count(*) = 0
            then ${page.offset}::int + count(*)
          else (select count(*) from (${counted}) counted)
        end)
      from (${detail}) r)`,
  }
}

/** Issues `i` to choose from. */
interface Origin {
  /** `from issues i join ...` */
  readonly from: RawBuilder<unknown>
  readonly where: RawBuilder<unknown>
}

interface Source {
  /** Tables that the others refer to, each with a comma. */
  readonly given: RawBuilder<unknown>
  readonly all: Origin
  /** Where labels are asked for. */
  readonly labelled?: {
    /** Which of the two it is. */
    readonly few: RawBuilder<unknown>
    readonly many: RawBuilder<unknown>
    /** The few that have all of the labels. */
    readonly picked: Origin
    /** Those of the rarest label, one by one as they are found; or all of them at once. */
    readonly rarest: Origin
    readonly set: Origin
  }
}

function sourceOf(where: Where, filter: IssueFilter): Source {
  const { joins, visible, labels } = extentOf(where, filter.non_archived !== false)
  const conditions = (given: IssueFilter) => sql.join([visible, ...conditionsOf(given, labels)], sql` and `)
  const from = sql`from issues i ${joins}`
  const all = { from, where: conditions(filter) }
  const titles = filter.labels ?? []
  const asked = labels === undefined ? undefined : labelled('Issue', titles, labels)
  if (asked === undefined) return { given: sql``, all }
  const others = conditions({ ...filter, labels: undefined })
  const rest = titles.length === 1 ? others : all.where
  const number = sql`(select count(*) from few)`
  const ofRarest = sql`y.noteable_type = 'Issue' and y.label_id = any (array(select r.id from rarest r))`
  return {
    given: asked.given,
    all,
    labelled: {
      few: sql`${number} <= ${asked.limit}`,
      many: sql`${number} > ${asked.limit}`,
      picked: {
        from: sql`from (select distinct few.id from few) few join issues i on i.id = few.id ${joins}`,
        where: others,
      },
      rarest: {
        from: sql`from issues i join noteable_labels y on y.noteable_id = i.id ${joins}`,
        where: sql`${ofRarest} and ${rest}`,
      },
      // In the order in which they lie in their table, mostly.
      set: {
        from: sql`
          from (select distinct y.noteable_id as id from noteable_labels y where ${ofRarest} order by id offset 0) many
          join issues i on i.id = many.id ${joins}`,
        where: rest,
      },
    },
  }
}

/** The parts of a list as it goes through them. What has no value comes last both ways, unless it has a key too. */
function inTurn(parts: readonly OrderedPart[], input: ListInput): readonly OrderedPart[] {
  return goesDown(input) && neverNull.has(input.order_by) ? parts.toReversed() : parts
}

/** Positions go one way only. */
const goesDown = ({ order_by, sort }: ListInput): boolean =>
  order_by !== 'relative_position' && sort === 'desc'

/** What every issue has; its index is read backwards too. */
const neverNull: ReadonlySet<Order> = new Set(['created_at', 'updated_at', 'title', 'popularity', 'priority'])

/** What has no value comes last, whichever way the others go. */
function lastNulls({ order_by }: ListInput): RawBuilder<unknown> {
  return neverNull.has(order_by) ? sql`` : sql`nulls last`
}

function cursorCondition(
  { cursor, order_by }: ListInput,
  key: RawBuilder<unknown>,
  descending: boolean,
): RawBuilder<unknown> {
  if (cursor === undefined) return sql`true`
  const place = readCursor(cursor, [order_by, 'id'])
  const time = place[order_by]
  if (typeof place.id !== 'number' || typeof time !== 'string' || Number.isNaN(Date.parse(time))) {
    throw invalidParameters(['cursor is invalid'])
  }
  const compared = descending ? sql`<` : sql`>`
  return sql`(${key}, i.id) ${compared} (${new Date(time)}::timestamptz, ${place.id}::bigint)`
}

/** A list as it is answered; with keyset pagination with the place where the next page begins. */
export function pageOf<Shown>(
  found: readonly ListedIssue[],
  { pagination, order_by }: Pick<ListInput, 'pagination' | 'order_by'>,
  show: (row: IssueRow) => Shown,
): Shown[] | Page<Shown> {
  if (pagination !== 'keyset') return found.map(show)
  const last = found.at(-1)
  const next =
    last?.more === true
      ? { cursor: writeCursor({ [order_by]: new Date(last.sort_key!).toISOString(), id: last.id }) }
      : undefined
  return new Page(found.map(show), { keyset: true, next })
}

export interface StateCounts {
  readonly opened: number
  readonly closed: number
}

/** How many issues of each state there are; every one is looked at. */
export function statistics(where: Where, filter: IssueFilter): Read<StateCounts> {
  const { joins, visible, labels } = extentOf(where, filter.non_archived !== false)
  return rows(sql`
    select ${plannedByValues} count(*) filter (where i.state = 'opened') as opened,
      count(*) filter (where i.state = 'closed') as closed
    from issues i ${joins}
    where ${sql.join([visible, ...conditionsOf({ ...filter, state: 'all' }, labels)], sql` and `)}`)
}

/** An issue of the project by its number, if the caller may see it. */
export function one(iid: number, columns: RawBuilder<unknown> = issueColumns({})): Read<IssueRow> {
  return rows(sql`
    select ${columns} from ${issueSource}
    where i.project_id = subject.id and i.iid = ${iid} and ${issueVisible}`)
}
