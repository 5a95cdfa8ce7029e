import { sql, type Database } from '../kernel/db/index.ts'
import { LruMap } from '../kernel/lib/lru.ts'
import type { Settings } from '../settings/index.ts'

/** Milliseconds for which an address that was counted is not counted again. */
const fresh = 1000

/** Users at addresses that are remembered. */
const remembered = 10_000

/**
 * From how many addresses one user may come within a time. Every address counts, a refused one too, so that once there
 * are too many nobody comes in until some are forgotten (completions of part 3, 8.1).
 */
export class UniqueAddresses {
  readonly #db: Pick<Database, 'rows'>
  readonly #settings: Pick<Settings, 'values'>
  readonly #seen = new LruMap<string, { readonly at: number; readonly admitted: boolean }>(remembered)

  constructor(db: Pick<Database, 'rows'>, settings: Pick<Settings, 'values'>) {
    this.#db = db
    this.#settings = settings
  }

  /** Null: as many as there are. */
  get #most(): number | null {
    const { unique_ips_limit_enabled: on, unique_ips_limit_per_user: most } = this.#settings.values
    return on ? most : null
  }

  get areLimited(): boolean {
    return this.#most !== null
  }

  /** Seconds for which an address counts. */
  get window(): number {
    return this.#settings.values.unique_ips_limit_time_window ?? 3600
  }

  /** Whether the user may come in from this address now. */
  async admits(userId: number, address: string): Promise<boolean> {
    const most = this.#most
    if (most === null) return true
    const { window } = this
    const key = `${userId} ${address} ${most} ${window}`
    const known = this.#seen.get(key)
    if (known !== undefined && Date.now() - known.at < fresh) return known.admitted
    const [found] = await this.#db.rows(sql<{ others: number }>`
      with seen as (
        insert into user_addresses as a (user_id, address, seen_at) values (${userId}, ${address}, now())
        on conflict (user_id, address) do update set seen_at = excluded.seen_at),
      gone as (
        delete from user_addresses a
        where a.user_id = ${userId} and a.address <> ${address} and a.seen_at < now() - make_interval(secs => ${window}))
      select count(*)::int as others from user_addresses a
      where a.user_id = ${userId} and a.address <> ${address}
        and a.seen_at >= now() - make_interval(secs => ${window})`)
    const admitted = (found?.others ?? 0) + 1 <= most
    this.#seen.set(key, { at: Date.now(), admitted })
    return admitted
  }
}
