import type { RawBuilder } from 'kysely'
import { sql } from '../db/index.ts'
import type { Loaded, Read } from './endpoint.ts'
import { countLimit, largestPage, type PageInput } from './pagination.ts'

/** A statement whose rows are wanted as they are. It may refer to `subject` and `actor`. */
export function rows<Row>(statement: RawBuilder<unknown>): Read<Row> {
  return {
    kind: 'rows',
    sql: sql`(select json_build_object('rows', coalesce(json_agg(r), '[]'::json)) from (${statement}) r)`,
  }
}

export interface ListSource {
  /** `v.id, v.name` */
  readonly columns: RawBuilder<unknown>
  /** `from ... where ...`, without order and limit */
  readonly from: RawBuilder<unknown>
  /** `v.id desc`; together with the conditions an index must answer it */
  readonly order: RawBuilder<unknown>
  /** The exact number of rows where it is known without counting, in SQL; null when it is not. */
  readonly known?: RawBuilder<unknown>
}

/** How far rows are counted, as a constant: see `windowOf`. */
export const countedRows: RawBuilder<unknown> = sql`limit ${sql.lit(countLimit + 1)}`

/**
 * The same, but past the page: where rows come in the record that they are of, the total tells whether more follow.
 */
export function countedPast({ offset, limit }: Pick<PageInput, 'offset' | 'limit'>): RawBuilder<unknown> {
  return offset + limit <= countLimit ? countedRows : sql`limit ${offset + limit + 1}`
}

/**
 * The end of the statement that walks to a page; around it stands `limit` with the exact size, one row more than the
 * page. The plan of a prepared statement is made once for all values, and takes a limit that it does not know for a
 * tenth of the table: so a constant stands where the walk is planned, the largest page, of which no more rows are
 * fetched than are asked for.
 */
export function windowOf({ offset }: Pick<PageInput, 'offset'>): RawBuilder<unknown> {
  const largest = sql`limit ${sql.lit(largestPage + 1)}`
  return offset === 0 ? largest : sql`offset ${offset} ${largest}`
}

/**
 * One page of a list and its total. One row more than the page is read: when there is none, the total is known; else
 * it is counted, up to one past the limit, so that a list of a million rows costs no more than one of ten thousand.
 */
export function page<Row>(
  { columns, from, order, known }: ListSource,
  { limit, offset }: PageInput,
): Read<Row> {
  const counted = sql`(select count(*) from (select ${from} ${countedRows}) counted)`
  const total = known === undefined ? counted : sql`coalesce(${known}, ${counted})`
  return {
    kind: 'page',
    sql: sql`(
      select json_build_object('rows', coalesce(json_agg(r), '[]'::json), 'total',
        case
          when count(*) between 1 and ${limit} or ${offset}::int = 0 and count(*) = 0 then ${offset}::int + count(*)
          else ${total}
        end)
      from (select w.* from (select ${columns} ${from} order by ${order} ${windowOf({ offset })}) w limit ${limit + 1}) r)`,
  }
}

/**
 * All rows `r` with the columns of these names, to stand for `rows` in what a `Read` brings: an array for each column
 * costs the database half of what an object for each row does. None of them may hold arrays.
 */
export function inColumns(names: readonly string[]): RawBuilder<unknown> {
  const arrays = names.map((name) => sql`array_agg(${sql.ref(`r.${name}`)})`)
  return sql`json_build_object('names', ${sql.lit(JSON.stringify(names))}::json, 'values', json_build_array(${sql.join(arrays)}))`
}

interface Columns {
  readonly names: readonly string[]
  /** Null where there are no rows. */
  readonly values: readonly (readonly unknown[] | null)[]
}

function rowsOf<Row>({ names, values }: Columns): Row[] {
  const rows: Record<string, unknown>[] = []
  for (let at = 0; at < (values[0]?.length ?? 0); at += 1) {
    const row: Record<string, unknown> = {}
    for (let column = 0; column < names.length; column += 1) row[names[column]!] = values[column]![at]
    rows.push(row)
  }
  return rows as Row[]
}

/** What came back of a `Read`; a page's extra row stays on it, see `Loaded`. */
export function loaded<Row>(value: unknown): Loaded<Row> {
  if (value === null || value === undefined) return { rows: [], total: undefined }
  const { rows: found, columns, total } = value as { rows?: Row[]; columns?: Columns; total?: number }
  return {
    rows: found ?? rowsOf(columns!),
    total: total !== undefined && total <= countLimit ? total : undefined,
  }
}
