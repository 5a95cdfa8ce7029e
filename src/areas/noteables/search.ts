import { sql, type RawBuilder } from 'kysely'

const mostTerms = 64

/** `a "b c" d` is the terms `a`, `b c` and `d`. */
export function searchTerms(text: string): string[] {
  const terms = [...text.matchAll(/"([^"]+)"|(\S+)/g)].map(([, quoted, plain]) => (quoted ?? plain!).trim())
  return terms.filter((term) => term !== '' && term !== '"').slice(0, mostTerms)
}

export function likePattern(term: string): string {
  return `%${term.replace(/[\\%_]/g, '\\$&')}%`
}

/** A column that has all terms, one of several columns: what the trigram indexes answer. */
export function matching(columns: readonly RawBuilder<unknown>[], text: string): RawBuilder<unknown> {
  const terms = searchTerms(text)
  if (terms.length === 0) return sql`true`
  const each = columns.map(
    (column) =>
      sql`(${sql.join(
        terms.map((term) => sql`${column} ilike ${likePattern(term)}`),
        sql` and `,
      )})`,
  )
  return sql`(${sql.join(each, sql` or `)})`
}
