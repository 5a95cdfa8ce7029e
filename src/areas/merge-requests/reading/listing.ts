import type { RawBuilder } from 'kysely'
import { sql } from '../../../kernel/db/index.ts'
import { visibleRequestParts } from '../../../access/index.ts'
import {
  mergedPage,
  mergedRows,
  readCursor,
  refuseDeepOffset,
  wantsKeyset,
  writeCursor,
  type MergedSource,
  type PageInput,
  type Read,
} from '../../../kernel/endpoint/index.ts'
import { invalidParameters } from '../../../kernel/errors/index.ts'
import { isFound, rankOf, type Found } from '../../noteables/index.ts'
import { mergeRequestColumns, type MergeRequestRow } from '../rows.ts'
import { conditionsOf, type Condition } from './filters.ts'
import type { MergeRequestFilter } from './filter-params.ts'

/** A row of a list; with keyset pagination it tells whether another one follows. */
export type ListedRow = MergeRequestRow & { readonly more?: boolean }

interface Wanted extends MergeRequestFilter {
  readonly pagination: string
  /** Keyset pages: where the next one begins. */
  readonly cursor?: string | undefined
  /** What another index has found; its order is that of the list. */
  readonly found?: Found
}

/** Of the merge requests into the project that is the subject those with these ids. */
export function ofProjectAmong(ids: readonly number[], params: Wanted, input: PageInput): Read<ListedRow> {
  const among = sql`m.id = any (${[...ids]}::bigint[])`
  return read({ parts: [sql`m.project_id = subject.id and ${among}`] }, params, input)
}

/** The merge requests into the project that is the subject. */
export function ofProject(params: Wanted, input: PageInput): Read<ListedRow> {
  return read({ parts: [sql`m.project_id = subject.id`] }, params, input)
}

/** Of all projects in the group that is the subject, and in groups below it, as far as the caller sees them. */
export function ofGroup(
  params: Wanted & { readonly non_archived: boolean },
  input: PageInput,
): Read<ListedRow> {
  const alive = params.non_archived ? sql`and not p.archived` : sql``
  const inGroup = sql`m.project_id = any (array(
    select p.id from projects p join namespaces n on n.id = p.namespace_id
    where n.traversal_ids @> array[subject.id] ${alive}))`
  const { given, parts } = visibleRequestParts()
  return read({ given, parts: parts.map((part) => sql`${inGroup} and ${part}`) }, params, input)
}

/** Of all projects. Those that are about the caller are found by that, and looked through by what he may see. */
export function everywhere(params: Wanted, input: PageInput): Read<ListedRow> {
  const { given, parts } = visibleRequestParts()
  const mine = concerning(params.scope)
  if (mine === undefined) return read({ given, parts }, params, input)
  return read({ given, parts: [sql`${mine} and (${sql.join(parts, sql` or `)})`] }, params, input)
}

/** Of all projects those that a condition on `m` picks, as far as the caller sees them; oldest first. */
export function picked(condition: Condition, input: PageInput): Read<ListedRow> {
  const { given, parts } = visibleRequestParts()
  return read({ given, parts: parts.map((part) => sql`${condition} and ${part}`) }, defaults, input)
}

/** Those that a search finds: everywhere, in the group or in the project that is the subject. */
export function searched(
  where: 'instance' | 'group' | 'project',
  wanted: {
    readonly search?: string
    readonly found?: Found
    readonly state: MergeRequestFilter['state']
    readonly sort: 'asc' | 'desc'
  },
  input: PageInput,
): Read<ListedRow> {
  const params: Wanted = { ...defaults, ...wanted }
  if (where === 'instance') return everywhere(params, input)
  if (where === 'group') return ofGroup({ ...params, non_archived: true }, input)
  const { given, parts } = visibleRequestParts()
  const inProject = sql`m.project_id = subject.id and (${sql.join(parts, sql` or `)})`
  return read({ given, parts: [inProject] }, params, input)
}

/** Requests that are about the caller in one way. */
function concerning(scope: MergeRequestFilter['scope']): Condition | undefined {
  switch (scope.replaceAll('-', '_')) {
    case 'created_by_me':
      return sql`m.author_id = actor.id`
    case 'assigned_to_me':
      return sql`m.id in (select x.merge_request_id from merge_request_assignees x where x.user_id = actor.id)`
    case 'reviews_for_me':
      return sql`m.id in (select x.merge_request_id from merge_request_reviewers x where x.user_id = actor.id)`
    default:
      return undefined
  }
}

function read(
  { given, parts }: Pick<MergedSource, 'given' | 'parts'>,
  params: Wanted,
  input: PageInput,
): Read<ListedRow> {
  const conditions = conditionsOf(params)
  const scoped = concerning(params.scope)
  if (scoped !== undefined) conditions.push(scoped)
  if (params.found !== undefined) conditions.push(isFound(sql`m.id`, params.found))
  const keyset = wantsKeyset(params, keysetOrders.has(params.order_by))
  if (keyset && params.cursor !== undefined) conditions.push(behind(params.cursor, params))
  const source: MergedSource = {
    ...(given !== undefined && { given }),
    columns: sql`${mergeRequestColumns}, place.more`,
    table: sql`merge_requests m`,
    id: sql`m.id`,
    parts,
    filter: sql.join([sql`true`, ...conditions], sql` and `),
    key: orderKey(params),
    descending: params.sort === 'desc',
    detail: sql`from merge_requests m join projects target on target.id = m.project_id where m.id = place.id`,
  }
  if (keyset) return mergedRows(source, input)
  refuseDeepOffset(input, 'MergeRequest')
  return mergedPage(source, input)
}

const defaults: Wanted = {
  state: 'all',
  scope: 'all',
  order_by: 'created_at',
  sort: 'asc',
  pagination: 'legacy',
}

const keysetOrders: ReadonlySet<string> = new Set(['created_at', 'updated_at'])

/** Rows behind the last one of the page before. */
function behind(cursor: string, { order_by, sort }: Wanted): Condition {
  const { at, id } = readCursor(cursor, ['at', 'id'])
  if (typeof id !== 'number' || Number.isNaN(Date.parse(String(at))))
    throw invalidParameters(['cursor is invalid'])
  const place = sql`(${new Date(at)}::timestamptz, ${id}::bigint)`
  const column = sql.ref(`m.${order_by}`)
  return sort === 'desc' ? sql`(${column}, m.id) < ${place}` : sql`(${column}, m.id) > ${place}`
}

/** What the link to the next page holds; undefined on the last one. */
export function nextPlace(
  rows: readonly ListedRow[],
  { order_by }: Pick<Wanted, 'order_by'>,
): { cursor: string } | undefined {
  const last = rows.at(-1)
  if (last?.more !== true) return undefined
  return {
    cursor: writeCursor({ at: last[order_by === 'updated_at' ? 'updated_at' : 'created_at'], id: last.id }),
  }
}

/** Labels with a priority are few, those without are many. */
const labelPriority = sql`(
  select min(pr.priority)::float8 from label_priorities pr
  where pr.project_id = m.project_id and exists (
    select from noteable_labels x
    where x.noteable_type = 'MergeRequest' and x.noteable_id = m.id and x.label_id = pr.label_id))`

const milestoneDue = sql`(
  select extract(epoch from plan.due_date)::float8 from milestones plan where plan.id = m.milestone_id)`

/** What has no value comes last, whichever way the others go. */
function orderKey({ order_by, sort, found }: Wanted): RawBuilder<unknown> {
  if (found !== undefined) return rankOf(sql`m.id`, found)
  const last = (key: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`coalesce(${key}, ${sort === 'desc' ? '-infinity' : 'infinity'}::float8)`
  switch (order_by) {
    case 'updated_at':
      return sql`m.updated_at`
    case 'merged_at':
      return sql`coalesce(m.merged_at, '-infinity')`
    case 'title':
      return sql`m.title`
    case 'popularity':
      return sql`m.upvotes`
    case 'milestone_due':
      return last(milestoneDue)
    case 'label_priority':
      return last(labelPriority)
    case 'priority':
      // First what is due first, then what matters most.
      return sql`array[${last(milestoneDue)}, ${last(labelPriority)}]`
    default:
      return sql`m.created_at`
  }
}
