import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/** The names of the namespace by this alias and of those above it, from the top one down, joined by ` / `. */
export function lineName(namespace: string): RawBuilder<string> {
  return sql`(
    select string_agg(a.name, ' / ' order by above.at)
    from unnest(${sql.ref(namespace)}.traversal_ids) with ordinality above (id, at) join namespaces a on a.id = above.id)`
}
