import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import type { NoteableType } from './noteable.ts'

/** Whether the caller `actor` reacted to a noteable with this emoji; `Any`: with one, `None`: with none. */
export function reactedTo(type: NoteableType, id: RawBuilder<unknown>, name: string): RawBuilder<unknown> {
  const word = name.toLowerCase()
  const which = word === 'none' || word === 'any' ? sql`` : sql`and r.name = ${name}`
  const found = sql`exists (
    select from award_emoji r
    where r.awardable_kind = ${sql.lit(type)} and r.awardable_id = ${id} and r.user_id = actor.id ${which})`
  return word === 'none' ? sql`not ${found}` : found
}
