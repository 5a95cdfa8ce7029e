import { randomUUID } from 'node:crypto'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'

export type Outcome =
  { readonly ok: true } | { readonly ok: false; readonly error: string; readonly passing: boolean }

/** What there is to do of one kind, and where it is written down who does it. */
export interface Work<Claimed extends { readonly id: number }> {
  /** The next that is due, from now on `runner`'s for so many seconds; it stays due until it is settled. */
  claim(runner: string, seconds: number): Promise<Claimed | undefined>
  renew(runner: string, seconds: number): Promise<void>
  /** Rejects only where it was stopped. */
  run(claimed: Claimed, signal: AbortSignal): Promise<Outcome>
  settle(runner: string, outcome: Outcome): Promise<void>
  /** Gives it back: it is as due as it was. */
  release(runner: string): Promise<void>
}

/** Mirrors that one node brings up to date at one time: each may have to wait for a slow host. */
const atOnce = 4
/** Seconds for which a mirror is one node's, and after which, well before, that is said again. */
const lease = 60
const renewal = 20
/** Milliseconds that bringing one mirror up to date may take. */
const patience = 30 * 60_000
const longestError = 2000

/** Brings mirrors up to date beside all else: the tasks only say that there is something to do. */
export class MirrorRunner<Claimed extends { readonly id: number }> implements AsyncDisposable {
  readonly #work: Work<Claimed>
  readonly #settings: Settings
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #taken = 0

  constructor(work: Work<Claimed>, { settings, log }: { settings: Settings; log: Logger }) {
    this.#work = work
    this.#settings = settings
    this.#log = log
  }

  /** Takes what is due, as much as there is room for. */
  async look(): Promise<void> {
    while (this.#taken < atOnce && !this.#stopping.signal.aborted) {
      if (this.#settings.values.silent_mode_enabled) return
      const runner = randomUUID()
      this.#taken += 1
      const claimed = await this.#work.claim(runner, lease).catch((error: unknown) => {
        this.#taken -= 1
        throw error
      })
      if (claimed === undefined) {
        this.#taken -= 1
        return
      }
      const work = this.#run(claimed, runner)
        .catch((error: unknown) => {
          this.#log.warn({ err: error, mirror: claimed.id }, 'a mirror could not be looked after')
        })
        .finally(() => {
          this.#taken -= 1
          this.#running.delete(work)
        })
      this.#running.add(work)
      void work.then(() => this.look()).catch(() => undefined)
    }
  }

  async #run(claimed: Claimed, runner: string): Promise<void> {
    const renewing = setInterval(() => {
      // When it cannot be said again another node takes over.
      this.#work.renew(runner, lease).catch(() => undefined)
    }, renewal * 1000)
    const tooLong = AbortSignal.timeout(patience)
    try {
      const outcome = await this.#work
        .run(claimed, AbortSignal.any([this.#stopping.signal, tooLong]))
        .catch((error: unknown): Outcome => {
          if (!tooLong.aborted) throw error
          return { ok: false, error: 'It took too long', passing: true }
        })
      const shown = outcome.ok ? outcome : { ...outcome, error: outcome.error.slice(0, longestError) }
      await this.#work.settle(runner, shown)
    } catch (error) {
      await this.#work.release(runner)
      if (!this.#stopping.signal.aborted) throw error
    } finally {
      clearInterval(renewing)
    }
  }

  /** What is under way is stopped, and due again at once. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await Promise.allSettled(this.#running)
  }
}
