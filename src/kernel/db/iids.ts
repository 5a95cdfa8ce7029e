import type { RawBuilder } from 'kysely'
import { sql } from './sql.ts'

/** What has numbers of its own within its project or group. */
export type Numbered =
  'issue' | 'merge_request' | 'milestone' | 'epic' | 'deployment' | 'feature_flag_user_list'

export type NumberedPlace = { readonly projectId: number } | { readonly namespaceId: number }

/**
 * The next number (iid) of a kind in a project or group, as `with counter as (...)`; its column is `iid`. The counter's row is
 * held until the transaction ends, so numbers have no gaps and rows come in their order; none is given twice, whatever
 * is deleted. `take`: how many numbers at once, the last of which is answered.
 */
export function nextIid(
  place: NumberedPlace,
  kind: Numbered,
  take: RawBuilder<unknown> = sql`1`,
): RawBuilder<unknown> {
  const { table, id, column } = counterOf(place)
  return sql`
    insert into ${table} as c (${column}, kind, last_iid) values (${id}, ${kind}, ${take})
    on conflict (${column}, kind) do update set last_iid = c.last_iid + excluded.last_iid
    returning c.last_iid as iid`
}

/** The same for a number that the caller chose: those to come are higher. */
export function chosenIid(place: NumberedPlace, kind: Numbered, iid: number): RawBuilder<unknown> {
  const { table, id, column } = counterOf(place)
  return sql`
    insert into ${table} as c (${column}, kind, last_iid) values (${id}, ${kind}, ${iid}::bigint)
    on conflict (${column}, kind) do update set last_iid = greatest(c.last_iid, excluded.last_iid)
    returning ${iid}::bigint as iid`
}

function counterOf(place: NumberedPlace): {
  table: RawBuilder<unknown>
  column: RawBuilder<unknown>
  id: number
} {
  return 'projectId' in place
    ? { table: sql`project_counters`, column: sql`project_id`, id: place.projectId }
    : { table: sql`namespace_counters`, column: sql`namespace_id`, id: place.namespaceId }
}
