export type StopReason = 'timeout' | 'canceling' | 'gone' | 'shutdown'

/** Why and how far a running job is to be stopped. */
export class JobControl implements Disposable {
  readonly #soft = new AbortController()
  readonly #hard = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #reason: StopReason | undefined
  readonly #shutdown: AbortSignal
  readonly #onShutdown = () => this.stop('shutdown')

  /** `shutdown` stops it hard: the runner ends. */
  constructor(shutdown: AbortSignal) {
    this.#shutdown = shutdown
    if (shutdown.aborted) this.stop('shutdown')
    else shutdown.addEventListener('abort', this.#onShutdown, { once: true })
  }

  /** Ends what leads to the job's result. */
  get soft() {
    return this.#soft.signal
  }

  /** Ends also what follows the result: nobody wants it any more. */
  get hard() {
    return this.#hard.signal
  }

  get reason() {
    return this.#reason
  }

  stop(reason: StopReason) {
    const hard = reason === 'gone' || reason === 'shutdown'
    if (this.#reason === undefined || hard) this.#reason = reason
    this.#soft.abort()
    if (hard) this.#hard.abort()
  }

  stopAfter(seconds: number) {
    this.#timer = setTimeout(() => this.stop('timeout'), Math.min(seconds * 1000, 0x7fffffff))
  }

  /** The result stands; from now on only a hard stop counts. */
  settle() {
    clearTimeout(this.#timer)
  }

  [Symbol.dispose]() {
    this.settle()
    this.#shutdown.removeEventListener('abort', this.#onShutdown)
  }
}
