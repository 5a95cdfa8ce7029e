import type { RawBuilder } from 'kysely'
import { sql } from '../db/index.ts'
import type { Read } from './endpoint.ts'
import { countLimit, type PageInput } from './pagination.ts'

export interface MergedSource {
  /** Common table expressions that the parts refer to: `mine as materialized (...)`. */
  readonly given?: RawBuilder<unknown>
  /** Columns of the answer, over `detail`; `place.more` tells whether another row follows. */
  readonly columns: RawBuilder<unknown>
  /** `projects p`: what the parts are looked for in. */
  readonly table: RawBuilder<unknown>
  /** `p.id` */
  readonly id: RawBuilder<unknown>
  /** Conditions of which a row meets at most one; an index must answer each in the order of `key`. */
  readonly parts: readonly RawBuilder<unknown>[]
  /** What else a row must meet. */
  readonly filter: RawBuilder<unknown>
  /** What the list is ordered by, over `table`; the id decides between equals. */
  readonly key: RawBuilder<unknown>
  readonly descending: boolean
  /** `from projects p ... where p.id = place.id`: run for the rows of the page only. */
  readonly detail: RawBuilder<unknown>
}

/**
 * One page of a list that is several lists in one: what everybody may see, and what the caller sees besides. No index
 * gives their union in order, but one each part; a page is merged from the first rows of all. Read and counted as
 * `page` does it.
 */
export function mergedPage<Row>(source: MergedSource, { limit, offset }: PageInput): Read<Row> {
  const places = merged(source, { limit: limit + 1, offset })
  const counts = sql.join(
    source.parts.map(
      (part) =>
        sql`(select 1 from ${source.table} where ${part} and ${source.filter} limit ${countLimit + 1})`,
    ),
    sql` union all `,
  )
  return {
    kind: 'page',
    sql: sql`(
      ${given(source)}
      select json_build_object('rows', coalesce(json_agg(r.detail order by r.at), '[]'::json), 'total',
        case
          when count(*) between 1 and ${limit} or ${offset}::int = 0 and count(*) = 0 then ${offset}::int + count(*)
          else (select count(*) from (select 1 from (${counts}) part limit ${countLimit + 1}) counted)
        end)
      from (${details(source, places)}) r)`,
  }
}

/** The first `limit` rows of such a list and one more, uncounted, for keyset pagination: the filter says where it begins. */
export function mergedRows<Row>(source: MergedSource, { limit }: PageInput): Read<Row> {
  const places = merged(source, { limit: limit + 1, offset: 0 })
  return {
    kind: 'rows',
    sql: sql`(
      ${given(source)}
      select json_build_object('rows', coalesce(json_agg(r.detail order by r.at), '[]'::json))
      from (${details(source, places)}) r)`,
  }
}

function given({ given: tables }: MergedSource): RawBuilder<unknown> {
  return tables === undefined ? sql`` : sql`with ${tables}`
}

/** Ids in order, each with its number on the page. */
function merged(
  { table, id, parts, filter, key, descending }: MergedSource,
  { limit, offset }: { limit: number; offset: number },
): RawBuilder<unknown> {
  const direction = descending ? sql`desc` : sql`asc`
  const heads = parts.map(
    (part) => sql`
      (select ${id} as id, ${key} as key from ${table} where ${part} and ${filter}
        order by ${key} ${direction}, ${id} ${direction} limit ${offset + limit})`,
  )
  return sql`
    select head.id, row_number() over in_order as at, lead(head.id) over in_order is not null as more
    from (${sql.join(heads, sql` union all `)}) head
    window in_order as (order by head.key ${direction}, head.id ${direction})
    order by head.key ${direction}, head.id ${direction} limit ${limit} offset ${offset}`
}

function details({ columns, detail }: MergedSource, places: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select place.at, row.detail from (${places}) place
    cross join lateral (select to_json(found) as detail from (select ${columns} ${detail}) found) row`
}
