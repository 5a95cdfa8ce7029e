import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  groupActive,
  groupArchived,
  groupLevels,
  groupVisible,
  memberGroups,
  Role,
  Visibility,
  visibleGroupParts,
  visibilityNames,
  type VisibilityName,
} from '../../access/index.ts'
import {
  Flag,
  Id,
  ListOf,
  mergedPage,
  mergedRows,
  OneOf,
  Optional,
  page,
  readCursor,
  refuseDeepOffset,
  Text,
  wantsKeyset,
  writeCursor,
  type MergedSource,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { invalidParameters } from '../../kernel/errors/index.ts'
import {
  attributeParams,
  attributesColumn,
  attributesFilter,
  type AttributeFilter,
} from '../custom-attributes/index.ts'
import { groupStatisticsColumn, markedOn } from '../projects/index.ts'
import type { GroupRow } from './entities.ts'
import { groupColumns } from './store.ts'

/** Parameters of every list of groups. */
export const listParams = {
  search: Optional(Text({ description: 'Part of the name or full path' })),
  owned: Optional(Flag({ description: 'Those that the caller owns' })),
  all_available: Flag({ default: true, description: 'false: only those that the caller is a member of' }),
  min_access_level: Optional(OneOf([5, 10, 15, 20, 30, 40, 50], { description: "The caller's least role" })),
  visibility: Optional(OneOf(visibilityNames, {})),
  archived: Optional(Flag({ description: 'Those that are archived, or that lie below one' })),
  active: Optional(
    Flag({
      description: 'Neither it nor one above it is archived, or marked for deletion; false: the others',
    }),
  ),
  skip_groups: Optional(ListOf(Id(), { commaSeparated: true, description: 'Ids of groups to leave out' })),
  ...attributeParams,
  statistics: Optional(Flag({ description: 'With what each takes with all below it. For administrators' })),
  order_by: OneOf(['name', 'path', 'id', 'similarity'], { default: 'name' }),
  sort: OneOf(['asc', 'desc'], { default: 'asc' }),
}

export interface GroupFilter extends AttributeFilter {
  readonly statistics?: boolean | undefined
  readonly search?: string | undefined
  readonly owned?: boolean | undefined
  readonly all_available: boolean
  readonly min_access_level?: number | undefined
  readonly visibility?: VisibilityName | undefined
  readonly archived?: boolean | undefined
  readonly active?: boolean | undefined
  readonly skip_groups?: readonly number[] | undefined
  readonly top_level_only?: boolean | undefined
  readonly marked_for_deletion_on?: Date | undefined
  readonly order_by: 'name' | 'path' | 'id' | 'similarity'
  readonly sort: 'asc' | 'desc'
}

type Condition = RawBuilder<unknown>

/** A row of a list; with keyset pagination it tells whether another one follows. */
export type ListedGroup = GroupRow & { readonly more?: boolean }

/** The last group of a page, as the next one starts from it. */
export function cursorBehind({ name, id }: GroupRow): string {
  return writeCursor({ name, id })
}

/** Only by name from A on, as the reference has it. */
function behindCursor(cursor: string | undefined): Condition {
  if (cursor === undefined || cursor === '') return sql`true`
  const { name, id } = readCursor(cursor, ['name', 'id'])
  if (typeof id !== 'number') throw invalidParameters(['cursor is invalid'])
  return sql`(lower(n.name), n.id) > (lower(${String(name)}::text), ${id}::bigint)`
}

/** All groups that the caller may see, one statement, merged from what each visibility shows. */
export function visibleGroups(
  params: GroupFilter & { readonly pagination: string; readonly cursor?: string | undefined },
  input: PageInput,
): Read<ListedGroup> {
  const keyset = wantsKeyset(params, params.order_by === 'name' && params.sort === 'asc')
  const source: MergedSource = {
    columns: sql`${columnsOf(params)}, place.more`,
    table: sql`namespaces n`,
    id: sql`n.id`,
    ...visibleGroupParts(levelAsked(params)),
    filter: keyset ? sql`${filterOf(params)} and ${behindCursor(params.cursor)}` : filterOf(params),
    key: orderKey(params),
    descending: isDescending(params),
    detail: sql`from namespaces n ${groupLevels} where n.id = place.id`,
  }
  if (keyset) return mergedRows(source, input)
  refuseDeepOffset(input, 'Group')
  return mergedPage(source, input)
}

/** Groups that something else already picks, by a condition on `n`: those below another one. */
export function groupsWhere(condition: Condition, params: GroupFilter, input: PageInput): Read<GroupRow> {
  const level = levelAsked(params)
  const member = level === undefined ? sql`` : sql`and n.id in (${memberGroups(level)})`
  const direction = isDescending(params) ? sql`desc` : sql`asc`
  return page(
    {
      columns: columnsOf(params),
      from: sql`
        from namespaces n ${groupLevels}
        where ${condition} and ${groupVisible} ${member} and ${filterOf(params)}`,
      order: sql`${orderKey(params)} ${direction}, n.id ${direction}`,
    },
    input,
  )
}

const columnsOf = ({ with_custom_attributes: wanted, statistics }: GroupFilter): RawBuilder<unknown> => sql`
  ${groupColumns}${attributesColumn('group', sql`n.id`, wanted)}
  ${statistics === true ? sql`, case when actor.admin then ${groupStatisticsColumn} end as statistics` : sql``}`

/** The level that the caller must have in what is listed; undefined: he only has to see it. */
function levelAsked({ owned, all_available, min_access_level: minimum }: GroupFilter): number | undefined {
  if (owned === true) return Role.owner
  return minimum ?? (all_available ? undefined : Role.guest)
}

function orderKey({ order_by, search }: GroupFilter): RawBuilder<unknown> {
  switch (order_by) {
    case 'id':
      return sql`n.id`
    case 'path':
      return sql`lower(n.path)`
    case 'similarity':
      return search === undefined || search === ''
        ? sql`lower(n.name)`
        : sql`similarity(n.name, ${search}::text)`
    case 'name':
      return sql`lower(n.name)`
  }
}

/** The most similar come first, whatever was asked for. */
function isDescending({ order_by, search, sort }: GroupFilter): boolean {
  return sort === 'desc' || (order_by === 'similarity' && search !== undefined && search !== '')
}

/** Found from the few of which this holds by themselves: these groups, and those below them. */
const among = (condition: Condition): Condition =>
  sql`n.traversal_ids && array(select a.id from namespaces a where ${condition})`
const amongArchived = among(sql`a.archived`)
const amongInactive = among(sql`a.archived or a.marked_for_deletion_at is not null`)

function filterOf({
  search,
  visibility,
  archived,
  active,
  skip_groups: skipped,
  top_level_only: topOnly,
  marked_for_deletion_on: marked,
  custom_attributes: wanted,
}: GroupFilter): Condition {
  const all: Condition[] = [sql`n.kind = 'group'`]
  if (search !== undefined && search !== '') {
    const pattern = `%${search.replace(/[\\%_]/g, '\\$&')}%`
    all.push(sql`(n.name ilike ${pattern} or n.full_path ilike ${pattern})`)
  }
  if (visibility !== undefined) all.push(sql`n.visibility = ${Visibility[visibility]}`)
  if (archived !== undefined) all.push(archived ? amongArchived : sql`not ${groupArchived}`)
  if (active !== undefined) all.push(active ? groupActive : amongInactive)
  if (skipped !== undefined && skipped.length > 0) all.push(sql`n.id <> all (${[...skipped]}::bigint[])`)
  if (marked !== undefined) all.push(sql`${markedOn('n')} = ${marked.toISOString().slice(0, 10)}::date`)
  if (wanted !== undefined) all.push(attributesFilter('group', sql`n.id`, wanted))
  if (topOnly === true) all.push(sql`n.parent_id is null`)
  return sql.join(all, sql` and `)
}
