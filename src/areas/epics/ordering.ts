import type { RawBuilder } from 'kysely'
import { sql, type Tx } from '../../kernel/db/index.ts'
import { Id, Optional } from '../../kernel/endpoint/index.ts'
import { badRequest, recordNotFound } from '../../kernel/errors/index.ts'

/** What says where something is put among the others that an epic holds. */
export const moving = {
  move_before_id: Optional(Id()),
  move_after_id: Optional(Id()),
}

/** What epics hold: where it is, and what keeps its place. */
interface Ordered {
  readonly table: RawBuilder<unknown>
  readonly parent: RawBuilder<unknown>
  readonly position: RawBuilder<unknown>
}

export const issuesOfEpic: Ordered = {
  table: sql`issues`,
  parent: sql`epic_id`,
  position: sql`epic_position`,
}
export const epicsOfEpic: Ordered = {
  table: sql`epics`,
  parent: sql`parent_id`,
  position: sql`relative_position`,
}

/** What one epic holds is short: all of it is numbered anew, with the moved one in its place. */
export async function reorder(
  tx: Tx,
  { table, parent, position }: Ordered,
  parentId: number,
  id: number,
  { move_before_id: before, move_after_id: after }: { move_before_id?: number; move_after_id?: number },
): Promise<void> {
  const other = after ?? before
  if (other === undefined || other === id) throw badRequest()
  const { rows } = await sql<{ id: number }>`
    select t.id from ${table} t where t.${parent} = ${parentId} order by t.${position}, t.id for update`.execute(
    tx,
  )
  const ids = rows.map((row) => row.id)
  if (!ids.includes(id) || !ids.includes(other)) throw recordNotFound()
  const rest = ids.filter((each) => each !== id)
  rest.splice(rest.indexOf(other) + (after === undefined ? 0 : 1), 0, id)
  await sql`
    update ${table} t set ${position} = o.place
    from unnest(${rest}::bigint[]) with ordinality o (id, place) where t.id = o.id`.execute(tx)
}
