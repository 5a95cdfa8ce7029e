/** Lets work on one thing go on one after the other, in the order it came; work on different things does not wait. */
export class Turns<Key> {
  readonly #last = new Map<Key, Promise<unknown>>()

  take<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#last.set(key, mine)
    const forget = (): void => {
      if (this.#last.get(key) === mine) this.#last.delete(key)
    }
    mine.then(forget, forget)
    return mine
  }
}
