/**
 * Finds many byte strings at once in one pass (Aho-Corasick). Children are linked lists, as a job token alone may be
 * 8 KB long and a full table per state would be megabytes.
 */
export class PatternSet {
  readonly empty: boolean
  readonly #fromRoot = new Int32Array(256)
  readonly #byte: number[] = [0]
  readonly #child: number[] = [0]
  readonly #sibling: number[] = [0]
  readonly #fallback: number[] = [0]
  readonly #depth: number[] = [0]
  readonly #value: number[] = [0]
  readonly #prefix: boolean[] = [false]

  constructor(values: Iterable<string>, prefixes: Iterable<string>) {
    for (const value of values) if (value !== '') this.#value[this.#add(value)] = Buffer.byteLength(value)
    for (const prefix of prefixes) if (prefix !== '') this.#prefix[this.#add(prefix)] = true
    this.empty = this.#byte.length === 1
    this.#link()
  }

  step(state: number, byte: number): number {
    while (state !== 0) {
      const next = this.#childOf(state, byte)
      if (next !== 0) return next
      state = this.#fallback[state]!
    }
    return this.#fromRoot[byte]!
  }

  /** Bytes at the end of the text read that a pattern could start with. */
  depth(state: number): number {
    return this.#depth[state]!
  }

  /** Length of the longest value that ends here, or 0. */
  longestValue(state: number): number {
    return this.#value[state]!
  }

  endsPrefix(state: number): boolean {
    return this.#prefix[state]!
  }

  #childOf(state: number, byte: number): number {
    let child = this.#child[state]!
    while (child !== 0 && this.#byte[child] !== byte) child = this.#sibling[child]!
    return child
  }

  #add(pattern: string): number {
    let state = 0
    for (const byte of Buffer.from(pattern)) {
      let next = state === 0 ? this.#fromRoot[byte]! : this.#childOf(state, byte)
      if (next === 0) {
        next = this.#byte.push(byte) - 1
        this.#sibling.push(state === 0 ? 0 : this.#child[state]!)
        this.#child.push(0)
        this.#fallback.push(0)
        this.#depth.push(this.#depth[state]! + 1)
        this.#value.push(0)
        this.#prefix.push(false)
        if (state === 0) this.#fromRoot[byte] = next
        else this.#child[state] = next
      }
      state = next
    }
    return state
  }

  #link() {
    const queue: number[] = [...this.#fromRoot.filter((state) => state !== 0)]
    for (const state of queue) {
      for (let child = this.#child[state]!; child !== 0; child = this.#sibling[child]!) {
        const fallback = this.step(this.#fallback[state]!, this.#byte[child]!)
        this.#fallback[child] = fallback
        this.#value[child] = Math.max(this.#value[child]!, this.#value[fallback]!)
        this.#prefix[child] ||= this.#prefix[fallback]!
        queue.push(child)
      }
    }
  }
}
