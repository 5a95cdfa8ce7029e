import type { Logger } from '../kernel/log/index.ts'

/** Work of one kind whose pieces are rows: whoever does one holds it by a lease, which a crash lets run out. */
export interface Leases<Piece extends { readonly id: number }> {
  readonly log: Logger
  /** Pieces that one node does at once. It is not the tasks' worker that waits for slow ones: others need that. */
  readonly atOnce: number
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
  readonly done: Promise<boolean>
}

/** Seconds of a lease, and milliseconds after which, well before, it is made longer. */
const lease = 60
const renewal = 15_000
/** Milliseconds until there is looked again where a piece was given back, and the longest until then. */
const shortestWait = 1000
const longestWait = 60_000

/** Does such work beside requests and tasks, as much as there is. */
export class LeasedWork<Piece extends { readonly id: number }> implements AsyncDisposable {
  readonly #leases: Leases<Piece>
  readonly #running = new Set<Running<Piece>>()
  readonly #renewing: NodeJS.Timeout
  #later: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #wanted = false
  #ended = false

  constructor(leases: Leases<Piece>) {
    this.#leases = leases
    this.#renewing = setInterval(() => void this.#renew(), renewal).unref()
  }

  /** Looks for work; whoever made some calls this, on any node. Resolves once what there is room for is begun. */
  async wake(): Promise<void> {
    if (this.#ended) return
    this.#wanted = true
    await (this.#looking ??= this.#look())
  }

  async #look(): Promise<void> {
    try {
      while (this.#wanted && !this.#ended) {
        this.#wanted = false
        await this.#take()
      }
    } catch (error) {
      this.#leases.log.warn({ err: error }, 'could not look for work')
    } finally {
      // Before anybody can wake it again in vain.
      this.#looking = undefined
    }
  }

  async #take(): Promise<void> {
    clearTimeout(this.#later)
    while (!this.#ended && this.#running.size < this.#leases.atOnce) {
      const found = await this.#leases.claim(lease)
      if (found === undefined) return
      if (found instanceof Date) {
        this.#wakeIn(Math.max(found.getTime() - Date.now(), 10))
        return
      }
      this.#begin(found)
    }
  }

  #wakeIn(milliseconds: number): void {
    clearTimeout(this.#later)
    if (this.#ended) return
    this.#later = setTimeout(() => void this.wake(), Math.min(milliseconds, longestWait)).unref()
  }

  #begin(piece: Piece): void {
    const controller = new AbortController()
    const running = { piece, controller, done: this.#do(piece, controller.signal) }
    this.#running.add(running)
    void running.done.then((done) => {
      this.#running.delete(running)
      // What cannot be done now is not tried without a pause.
      if (done) void this.wake()
      else this.#wakeIn(shortestWait)
    })
  }

  /** Whether it is done. */
  async #do(piece: Piece, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#leases.run(piece, signal)
      return true
    } catch (error) {
      if (!signal.aborted) this.#leases.log.warn({ err: error, piece: piece.id }, 'work was not done')
      await this.#leases.release(piece).catch(() => undefined)
      return false
    }
  }

  async #renew(): Promise<void> {
    if (this.#running.size === 0) return
    try {
      const running = [...this.#running]
      const held = await this.#leases.extend(
        running.map(({ piece }) => piece),
        lease,
      )
      for (const { piece, controller } of running) if (!held.has(piece.id)) controller.abort()
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
    for (const { controller } of this.#running) controller.abort()
    await Promise.all([...this.#running].map(({ done }) => done))
  }
}
