import { sql, type Database } from '../kernel/db/index.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import type { Logger } from '../kernel/log/index.ts'
import type { Settings } from '../settings/index.ts'
import type { TokenUse } from './caller.ts'

/** `last_used_at` of a token is written at most this often, in milliseconds. */
const lastUseInterval = 600_000

/** Off the request's path: a slow write never delays an answer, and a lost one costs nothing. */
export function noteTokenUse(
  { db, log }: { db: Database; log: Logger },
  { id, lastUsedAt }: Pick<TokenUse, 'id' | 'lastUsedAt'>,
): void {
  // Those of applications live for hours only: that they are given out is noted.
  if (id === null) return
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

/** The use of a session is written at most this often, in milliseconds. */
const sessionInterval = 60_000

/** Lets sessions live on that are used, unless they live from sign-in on only. */
export class SessionUse {
  readonly #db: Database
  readonly #log: Logger
  readonly #settings: Pick<Settings, 'values'>
  readonly #noted = new LruMap<string, number>(10_000)

  constructor(db: Database, log: Logger, settings: Pick<Settings, 'values'>) {
    this.#db = db
    this.#log = log
    this.#settings = settings
  }

  note(digest: string): void {
    const now = Date.now()
    if (now - (this.#noted.get(digest) ?? 0) < sessionInterval) return
    this.#noted.set(digest, now)
    const { session_expire_delay: minutes, sign_in_restrictions: switches } = this.#settings.values
    const fixed = switches['session_expire_from_init'] === true
    sql`
      with used as (
        update user_sessions set last_seen_at = now(),
          expires_at = case when ${fixed} then expires_at else now() + make_interval(mins => ${minutes}::int) end
        where digest = ${digest} and greatest(expires_at, remembered_until) > now() returning user_id)
      update users u set last_activity_on = (now() at time zone 'utc')::date from used
      where u.id = used.user_id and u.last_activity_on is distinct from (now() at time zone 'utc')::date`
      .execute(this.#db.writer)
      .catch((error: unknown) => this.#log.warn({ err: error }, 'could not note the use of a session'))
  }
}
