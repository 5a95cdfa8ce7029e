interface Entry<V> {
  readonly value: V
  readonly weight: number
  /** Since it came, or was last passed over. */
  asked: boolean
}

/**
 * A map that forgets what was not asked for in a long time once the weights of its entries pass `limit`: the oldest
 * goes, unless it was asked for, which gives it a second turn. So asking moves nothing.
 * An entry heavier than the limit is kept alone until the next one comes.
 */
export class LruMap<K, V> {
  readonly #entries = new Map<K, Entry<V>>()
  readonly #limit: number
  readonly #forget: ((value: V, key: K) => void) | undefined
  #weight = 0

  constructor(limit: number, forget?: (value: V, key: K) => void) {
    this.#limit = limit
    this.#forget = forget
  }

  get size(): number {
    return this.#entries.size
  }

  get weight(): number {
    return this.#weight
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.asked = true
    return entry.value
  }

  set(key: K, value: V, weight = 1): void {
    this.delete(key)
    this.#entries.set(key, { value, weight, asked: false })
    this.#weight += weight
    // Those that get a second turn come again at the end.
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#limit) break
      if (oldest === key) continue
      if (entry.asked) this.#passOver(oldest, entry)
      else this.delete(oldest)
    }
  }

  #passOver(key: K, entry: Entry<V>): void {
    entry.asked = false
    this.#entries.delete(key)
    this.#entries.set(key, entry)
  }

  delete(key: K): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#entries.delete(key)
    this.#weight -= entry.weight
    this.#forget?.(entry.value, key)
    return true
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key)
  }
}
