/**
 * A map that forgets what was not asked for the longest once the weights of its entries pass `limit`.
 * An entry heavier than the limit is kept alone until the next one comes.
 */
export class LruMap<K, V> {
  readonly #entries = new Map<K, { value: V; weight: number }>()
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
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: K, value: V, weight = 1): void {
    this.delete(key)
    this.#entries.set(key, { value, weight })
    this.#weight += weight
    for (const oldest of this.#entries.keys()) {
      if (this.#weight <= this.#limit || oldest === key) break
      this.delete(oldest)
    }
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
