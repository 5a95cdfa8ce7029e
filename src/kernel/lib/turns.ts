/** Lets those who come for the same thing have it one after another, in the order in which they came. */
export class Turns {
  readonly #last = new Map<number, Promise<void>>()

  /** Whoever takes a turn has to end it, by disposing of it: the next one's comes then. */
  take(key: number): { readonly come: Promise<void> } & Disposable {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const come = this.#last.get(key) ?? Promise.resolve()
    const last = come
      .then(() => promise)
      .then(() => {
        if (this.#last.get(key) === last) this.#last.delete(key)
      })
    this.#last.set(key, last)
    return { come, [Symbol.dispose]: () => resolve(undefined) }
  }
}
