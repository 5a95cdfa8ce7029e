import type { RawBuilder } from 'kysely'
import { sql, type Tx } from '../../kernel/db/index.ts'
import type { Noteable, NoteableType } from './noteable.ts'

export interface Subscribable {
  readonly type: NoteableType | 'Label'
  readonly id: number
}

/** Says for good that a user is subscribed, or not, whether he takes part or no. */
export async function setSubscription(
  tx: Tx,
  { type, id }: Subscribable,
  userId: number,
  subscribed: boolean,
): Promise<void> {
  await sql`
    insert into subscriptions (user_id, subscribable_type, subscribable_id, subscribed)
    values (${userId}, ${type}, ${id}, ${subscribed})
    on conflict (subscribable_type, subscribable_id, user_id) do update set subscribed = excluded.subscribed`.execute(
    tx,
  )
}

/** Whether the caller `actor` is subscribed to a noteable: as he said, else as one who takes part (`participates`). */
export function subscribedTo(
  type: Noteable['type'],
  id: RawBuilder<unknown>,
  participates: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`coalesce((
    select s.subscribed from subscriptions s
    where s.subscribable_type = ${type} and s.subscribable_id = ${id} and s.user_id = actor.id), ${participates}, false)`
}
