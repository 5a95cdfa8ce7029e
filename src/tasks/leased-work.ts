import type { Logger } from '../kernel/log/index.ts'

/** Work of one kind whose pieces are rows: whoever does one holds it by a lease, which a crash lets run out. */
export interface Leases<Piece extends { readonly id: number }> {
  readonly log: Logger
  /** Takes the next piece for `seconds`; a date: there will be one then, so far as is known; undefined: there is none. */
  claim(seconds: number): Promise<Piece | Date | undefined>
  /** Holds pieces for `seconds` more; answers those that still are to be done, here. */
  extend(pieces: readonly Piece[], seconds: number): Promise<ReadonlySet<number>>
  /** Gives back a piece that is not done. */
  release(piece: Piece): Promise<void>
  /** Does a piece to its end, whatever that is. Throws when it is to be done again. */
  run(piece: Piece, signal: AbortSignal): Promise<void>
}

interface Running<Piece> {
  readonly piece: Piece
  readonly controller: AbortController
  readonly done: Promise<void>
}

/** Seconds of a lease, and milliseconds after which, well before, it is made longer. */
const lease = 60
const renewal = 15_000
/** Pieces that one node does at once. It is not the tasks' worker that waits for slow ones: others need that. */
const mostHere = 8

/** Does such work beside requests and tasks, as much as there is. */
export class LeasedWork<Piece extends { readonly id: number }> implements AsyncDisposable {
  readonly #leases: Leases<Piece>
  readonly #running = new Map<number, Running<Piece>>()
  readonly #renewing: NodeJS.Timeout
  #later: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #again = false
  #ended = false

  constructor(leases: Leases<Piece>) {
    this.#leases = leases
    this.#renewing = setInterval(() => void this.#renew(), renewal).unref()
  }

  /** Looks for work; whoever made some calls this, on any node. */
  wake(): void {
    if (this.#ended) return
    if (this.#looking !== undefined) {
      this.#again = true
      return
    }
    this.#looking = this.#look()
      .catch((error: unknown) => this.#leases.log.warn({ err: error }, 'could not look for work'))
      .finally(() => {
        this.#looking = undefined
        if (!this.#again) return
        this.#again = false
        this.wake()
      })
  }

  async #look(): Promise<void> {
    clearTimeout(this.#later)
    while (!this.#ended && this.#running.size < mostHere) {
      const found = await this.#leases.claim(lease)
      if (found instanceof Date) {
        const wait = Math.min(Math.max(found.getTime() - Date.now(), 10), 60_000)
        clearTimeout(this.#later)
        this.#later = setTimeout(() => this.wake(), wait).unref()
        return
      }
      if (found === undefined) return
      this.#begin(found)
    }
  }

  #begin(piece: Piece): void {
    const controller = new AbortController()
    const done = this.#do(piece, controller.signal).finally(() => {
      this.#running.delete(piece.id)
      this.wake()
    })
    this.#running.set(piece.id, { piece, controller, done })
  }

  async #do(piece: Piece, signal: AbortSignal): Promise<void> {
    try {
      await this.#leases.run(piece, signal)
    } catch (error) {
      if (!signal.aborted) this.#leases.log.warn({ err: error, piece: piece.id }, 'work was not done')
      await this.#leases.release(piece).catch(() => undefined)
    }
  }

  async #renew(): Promise<void> {
    if (this.#running.size === 0) return
    try {
      const pieces = [...this.#running.values()].map(({ piece }) => piece)
      const held = await this.#leases.extend(pieces, lease)
      for (const { id } of pieces) if (!held.has(id)) this.#running.get(id)?.controller.abort()
    } catch (error) {
      // The next time it may go better; a lease lasts for several.
      this.#leases.log.warn({ err: error }, 'could not hold work')
    }
  }

  /** Gives back what is not done: another node goes on, or the next start does. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended = true
    clearInterval(this.#renewing)
    clearTimeout(this.#later)
    await this.#looking
    for (const { controller } of this.#running.values()) controller.abort()
    await Promise.all([...this.#running.values()].map(({ done }) => done))
  }
}
