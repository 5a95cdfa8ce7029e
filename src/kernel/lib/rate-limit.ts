import { tooManyRequests } from '../errors/index.ts'

/** Counts uses by key in periods of fixed length, in this process. */
export class RateLimit {
  readonly #limit: () => number
  readonly #period: number
  #counts = new Map<string | number, number>()
  #ends = 0

  /** `period` in seconds. A limit that may change is asked for at each use; 0 is none. */
  constructor(limit: number | (() => number), period: number) {
    this.#limit = typeof limit === 'number' ? () => limit : limit
    this.#period = period
  }

  /** 429 past the limit, in other words where they are given. */
  use(key: string | number, now = Date.now(), refusal?: () => Error): void {
    if (now >= this.#ends) {
      this.#counts = new Map()
      this.#ends = now + this.#period * 1000
    }
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    const limit = this.#limit()
    if (limit > 0 && count > limit) throw refusal?.() ?? tooManyRequests(this.#period)
  }
}
