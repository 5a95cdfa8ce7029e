import { sql } from './sql.ts'
import type { Logger } from '../log/index.ts'
import type { Writer } from './database.ts'

/** A count after one more use, in a window that is aligned to the Unix epoch. */
export interface Count {
  readonly count: number
  /** When the window ends, in Unix seconds. */
  readonly endsAt: number
}

interface Bucket {
  /** What the database said last, our own uses included. */
  known: number
  /** Uses here that it has not been told. */
  fresh: number
  /** Uses on the way to it. */
  sent: number
  readonly endsAt: number
}

/** Milliseconds after which the other nodes learn of uses here, at the latest. */
const tellEvery = 200
const sweepEvery = 60_000

/**
 * Counts of uses in fixed windows that all nodes share. Counting costs no round trip: it is done in memory, and the
 * uses since then are told to the database together a few times a second, which answers what the others counted. So a
 * single node is exact, and several may together go past a limit by what they count within that time.
 */
export class SharedCounts implements AsyncDisposable {
  readonly #db: Writer
  readonly #log: Logger
  readonly #buckets = new Map<string, Bucket>()
  readonly #dirty = new Set<string>()
  readonly #timer: NodeJS.Timeout
  readonly #sweeper: NodeJS.Timeout
  #telling: Promise<void> | undefined

  constructor(db: Writer, log: Logger) {
    this.#db = db
    this.#log = log
    this.#timer = setInterval(() => this.#tell(), tellEvery).unref()
    this.#sweeper = setInterval(() => void this.#sweep(), sweepEvery).unref()
  }

  /** One more use. `period` in seconds; names and keys are ours or bounded. */
  add(name: string, key: string | number, period: number, now = Date.now()): Count {
    const window = Math.floor(now / 1000 / period)
    const id = `${name} ${key} ${period} ${window}`
    let bucket = this.#buckets.get(id)
    if (bucket === undefined) {
      bucket = { known: 0, fresh: 0, sent: 0, endsAt: (window + 1) * period }
      this.#buckets.set(id, bucket)
    }
    bucket.fresh += 1
    this.#dirty.add(id)
    return { count: bucket.known + bucket.sent + bucket.fresh, endsAt: bucket.endsAt }
  }

  /** How often it was used in the present window, without using it. */
  peek(name: string, key: string | number, period: number, now = Date.now()): number {
    const bucket = this.#buckets.get(`${name} ${key} ${period} ${Math.floor(now / 1000 / period)}`)
    return bucket === undefined ? 0 : bucket.known + bucket.sent + bucket.fresh
  }

  #tell(): void {
    if (this.#telling !== undefined || this.#dirty.size === 0) return
    this.#telling = this.#tellNow().finally(() => (this.#telling = undefined))
  }

  async #tellNow(): Promise<void> {
    // In one order on every node, so that two of them never wait for one another.
    const told = [...this.#dirty].sort().map((id) => ({ id, bucket: this.#buckets.get(id)! }))
    this.#dirty.clear()
    for (const { bucket } of told) {
      bucket.sent = bucket.fresh
      bucket.fresh = 0
    }
    const rows = told.map(({ id, bucket }) => ({ bucket: id, count: bucket.sent, ends_at: bucket.endsAt }))
    try {
      const found = await sql<{ bucket: string; count: number }>`
        insert into request_counts as c (bucket, count, ends_at)
        select r.bucket, r.count, to_timestamp(r.ends_at)
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(bucket text, count bigint, ends_at bigint)
        on conflict (bucket) do update set count = c.count + excluded.count
        returning c.bucket, c.count`.execute(this.#db)
      for (const { bucket: id, count } of found.rows) {
        const bucket = this.#buckets.get(id)
        if (bucket === undefined) continue
        bucket.known = count
        bucket.sent = 0
      }
    } catch (error) {
      this.#log.warn({ err: error }, 'could not tell the other nodes how often was asked here')
      for (const { id, bucket } of told) {
        bucket.fresh += bucket.sent
        bucket.sent = 0
        this.#dirty.add(id)
      }
    }
  }

  /** Forgets windows that are over. */
  async #sweep(): Promise<void> {
    const now = Date.now() / 1000
    for (const [id, { endsAt, sent }] of this.#buckets) {
      if (endsAt < now && sent === 0) {
        this.#buckets.delete(id)
        this.#dirty.delete(id)
      }
    }
    try {
      await sql`delete from request_counts where ends_at < now()`.execute(this.#db)
    } catch (error) {
      this.#log.warn({ err: error }, 'could not forget old counts of requests')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    clearInterval(this.#sweeper)
    await this.#telling
  }
}
