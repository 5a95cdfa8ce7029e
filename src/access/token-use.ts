import { sql } from 'kysely'
import type { Database } from '../kernel/db/index.ts'
import type { Logger } from '../kernel/log/index.ts'

/** `last_used_at` of a token is written at most this often, in milliseconds. */
const lastUseInterval = 600_000

/** Off the request's path: a slow write never delays an answer, and a lost one costs nothing. */
export function noteTokenUse(
  { db, log }: { db: Database; log: Logger },
  { id, lastUsedAt }: { readonly id: number; readonly lastUsedAt: Date | null },
): void {
  const now = Date.now()
  if (lastUsedAt !== null && now - lastUsedAt.getTime() < lastUseInterval) return
  const recently = new Date(now - lastUseInterval)
  sql`
    with used as (
      update personal_access_tokens set last_used_at = now()
      where id = ${id} and (last_used_at is null or last_used_at < ${recently}) returning user_id)
    update users u set last_activity_on = (now() at time zone 'utc')::date from used
    where u.id = used.user_id and u.last_activity_on is distinct from (now() at time zone 'utc')::date`
    .execute(db.writer)
    .catch((error: unknown) => log.warn({ err: error }, 'could not note the use of a token'))
}
