import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

const mostTerms = 64

/** `a "b c" d` is the terms `a`, `b c` and `d`. */
export function searchTerms(text: string): string[] {
  const terms = [...text.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, plain]) => (quoted ?? plain!).trim())
  return terms.filter((term) => term !== '' && term !== '"').slice(0, mostTerms)
}

/** Ids of what another index has found, what fits best first. */
export type Found = readonly number[]

/** Whether an id is among them. */
export const isFound = (id: RawBuilder<unknown>, found: Found): RawBuilder<unknown> =>
  sql`${id} = any (${[...found]}::bigint[])`

/** Where it stands among them, for orders. */
export const rankOf = (id: RawBuilder<unknown>, found: Found): RawBuilder<unknown> =>
  sql`array_position(${[...found]}::bigint[], ${id})`

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

export function likePattern(term: string): string {
  return `%${escaped(term)}%`
}

/** Characters of the shortest word that the trigram indexes find within a text. */
const shortest = 3

/**
 * A column that has all terms, one of several columns: what the trigram indexes answer. Terms that are too short for
 * them count only where there is no other one: then they must be all of the text.
 */
export function matching(columns: readonly RawBuilder<unknown>[], text: string): RawBuilder<unknown> {
  const terms = searchTerms(text)
  if (terms.length === 0) return sql`true`
  const long = terms.filter((term) => Array.from(term).length >= shortest)
  const patterns = long.length > 0 ? long.map(likePattern) : [escaped(text.trim())]
  const each = columns.map(
    (column) =>
      sql`(${sql.join(
        patterns.map((pattern) => sql`${column} ilike ${pattern}`),
        sql` and `,
      )})`,
  )
  return sql`(${sql.join(each, sql` or `)})`
}
