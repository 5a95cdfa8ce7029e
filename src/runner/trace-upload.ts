import type { Logger } from 'pino'
import type { Answer, Api } from './api.ts'
import type { JobPayload } from './payload.ts'
import { runnerInfo } from './info.ts'
import { askedDelay, isTransient } from './retry.ts'
import type { Trace } from './trace.ts'
import { aborted, backoff, wait } from './wait.ts'

/** What the server says about the job: stop it but still clean up after it, or it is none of ours any more. */
export type JobNews = 'canceling' | 'gone'

export interface Outcome {
  state: 'success' | 'failed'
  exitCode?: number
  failureReason?: string
}

// The server takes 200 pieces a minute.
const pace = 1000
const quickPace = 20
const quickPieces = 5
const largestPiece = 1024 * 1024
const enoughToSend = 256 * 1024
// Also how long a cancelled job that prints nothing goes on: the server can tell us only in an answer.
const idlePace = 3000

/**
 * Brings the log to the server while it grows. A few pieces go out almost at once, so that a short job is seen as it
 * happens; a long one sends every second, or when much has come together.
 */
export class TraceUpload {
  readonly #api: Api
  readonly #job: JobPayload
  readonly #trace: Trace
  readonly #log: Logger
  readonly #version: string
  readonly #debug: boolean
  readonly #onNews: (news: JobNews) => void
  readonly #stop = new AbortController()
  /** Ends even the request under way. */
  readonly #cut = new AbortController()
  #wake: () => void = () => undefined
  #sent = 0
  #lastSent = 0
  #quick = quickPieces
  #piece = largestPiece
  #interval = idlePace
  #failures = 0
  #askedDelay: number | undefined
  #gone = false
  #running: Promise<void> = Promise.resolve()

  constructor(
    api: Api,
    job: JobPayload,
    trace: Trace,
    options: { log: Logger; version: string; debug: boolean; onNews: (news: JobNews) => void },
  ) {
    this.#api = api
    this.#job = job
    this.#trace = trace
    this.#log = options.log
    this.#version = options.version
    this.#debug = options.debug
    this.#onNews = options.onNews
    trace.onWrite = () => this.#wake()
  }

  start() {
    this.#lastSent = Date.now()
    this.#running = this.#run()
  }

  /** What is written next is waited for by somebody: send it at once. */
  hurry() {
    this.#quick = quickPieces
  }

  /**
   * Sends the rest and the outcome, and repeats until the server has both, the signal is aborted, or `within`
   * milliseconds have passed. Returns whether the server took it.
   */
  async finish(outcome: Outcome, signal: AbortSignal, within: number): Promise<boolean> {
    const giveUp = AbortSignal.any([signal, AbortSignal.timeout(within)])
    const cut = () => this.#cut.abort()
    if (giveUp.aborted) cut()
    else giveUp.addEventListener('abort', cut, { once: true })
    this.#stop.abort()
    await this.#running
    const delivered = await this.#deliver(outcome)
    giveUp.removeEventListener('abort', cut)
    return delivered
  }

  async #deliver(outcome: Outcome): Promise<boolean> {
    const { signal } = this.#cut
    const open = () => !this.#gone && !signal.aborted
    for (let attempt = 0; open(); attempt++) {
      while (this.#sent < this.#trace.size && open()) {
        if (!(await this.#sendPiece())) await wait(this.#pause(), signal)
      }
      if (!open()) break
      const answer = await this.#put(this.#outcomeBody(outcome), true)
      if (answer?.status === 200) return true
      if (answer !== undefined && this.#isFinal(answer)) return false
      if (answer?.status === 412) this.#sent = 0
      const asked = answer === undefined ? undefined : this.#askedPause(answer)
      await wait(asked ?? backoff(attempt, 200, 15_000), signal)
    }
    return false
  }

  /** Nothing more is sent. */
  async abandon() {
    this.#stop.abort()
    this.#cut.abort()
    await this.#running
  }

  async #run() {
    const { signal } = this.#stop
    while (!signal.aborted && !this.#gone) {
      const waiting = this.#waiting()
      if (waiting > 0) {
        await this.#sleep(waiting, signal)
        continue
      }
      const done = this.#sent < this.#trace.size ? await this.#sendPiece() : await this.#beat()
      if (!done) await wait(this.#pause(), signal)
    }
  }

  /** Milliseconds until something is due. */
  #waiting() {
    const since = Date.now() - this.#lastSent
    const unsent = this.#trace.size - this.#sent
    if (unsent === 0) return this.#interval - since
    if (since > 2 * pace) this.#quick = Math.max(this.#quick, 2)
    if (unsent >= enoughToSend) return 0
    return (this.#quick > 0 ? quickPace : pace) - since
  }

  /** Ends early when something is written that makes another time due. */
  async #sleep(milliseconds: number, signal: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const timer = setTimeout(() => resolve(undefined), milliseconds)
    const stopping = aborted(signal)
    const planned = Date.now() + milliseconds
    this.#wake = () => {
      if (Date.now() + this.#waiting() < planned - 5) resolve(undefined)
    }
    await Promise.race([promise, stopping.promise])
    this.#wake = () => undefined
    stopping.off()
    clearTimeout(timer)
  }

  async #sendPiece(): Promise<boolean> {
    const piece = this.#trace.read(this.#sent, this.#piece)
    const first = this.#sent
    const answer = await this.#attempt(() =>
      this.#api.call({
        method: 'PATCH',
        path: `/jobs/${this.#job.id}/trace?debug_trace=${this.#debug}`,
        headers: {
          'job-token': this.#job.token,
          'content-type': 'text/plain',
          'content-range': `${first}-${first + piece.length - 1}`,
        },
        body: piece,
        timeout: 30_000,
        signal: this.#cut.signal,
      }),
    )
    this.#lastSent = Date.now()
    this.#quick = Math.max(0, this.#quick - 1)
    if (answer === undefined) return false
    if (answer.status === 202 || answer.status === 416) {
      const stored = /^0-(\d+)$/.exec(answer.header('range') ?? '')?.[1]
      const known = stored === undefined ? undefined : Math.min(Number(stored), this.#trace.size)
      this.#sent = known ?? (answer.status === 202 ? first + piece.length : 0)
      // The same place again would go round without end.
      return answer.status === 202 || this.#sent !== first
    }
    if (answer.status === 413) this.#piece = Math.max(4096, this.#piece >> 1)
    return false
  }

  async #beat(): Promise<boolean> {
    const answer = await this.#put({ token: this.#job.token, state: 'running' })
    this.#lastSent = Date.now()
    return answer?.status === 200
  }

  async #put(body: object, final = false) {
    const send = () =>
      this.#api.json('PUT', `/jobs/${this.#job.id}`, body, {
        headers: { 'job-token': this.#job.token },
        timeout: 30_000,
        signal: this.#cut.signal,
      })
    return this.#attempt(send, final)
  }

  /** The answer, with its news told; undefined when there was none. */
  async #attempt(send: () => Promise<Answer>, final = false): Promise<Answer | undefined> {
    let answer: Answer
    try {
      answer = await send()
    } catch (error) {
      this.#failures++
      this.#log.debug({ err: error, job: this.#job.id }, 'no answer to an update of a job')
      return undefined
    }
    this.#failures = isTransient(answer.status) ? this.#failures + 1 : 0
    this.#askedDelay = isTransient(answer.status) ? askedDelay(answer) : undefined
    // The status after our own last word is no news.
    if (!final) this.#hear(answer)
    return answer
  }

  #pause() {
    return this.#askedDelay ?? backoff(this.#failures, 200, 15_000)
  }

  #hear(answer: Answer) {
    const seconds = Number(answer.header('x-gitlab-trace-update-interval'))
    if (answer.status < 300 && seconds > 0) this.#interval = Math.min(idlePace, seconds * 1000)
    const status = answer.header('job-status')
    if (answer.status === 403 || status === 'canceled' || status === 'failed') {
      if (!this.#gone)
        this.#log.info({ job: this.#job.id, status: answer.status }, 'the server ended the job')
      this.#gone = true
      this.#onNews('gone')
    } else if (status === 'canceling') {
      this.#onNews('canceling')
    }
  }

  #isFinal(answer: Answer) {
    return (
      answer.status !== 409 && answer.status !== 412 && answer.status !== 202 && !isTransient(answer.status)
    )
  }

  #askedPause(answer: Answer) {
    if (answer.status !== 202) return askedDelay(answer)
    const seconds = Number(answer.header('x-gitlab-trace-update-interval'))
    return seconds > 0 ? Math.min(seconds, 64) * 1000 : 1000
  }

  #outcomeBody({ state, exitCode, failureReason }: Outcome) {
    const { checksum, size } = this.#trace
    const known = this.#job.features?.failure_reasons
    const reason =
      failureReason === undefined || known == null || known.includes(failureReason)
        ? failureReason
        : 'unknown_failure'
    return {
      token: this.#job.token,
      state,
      ...(reason === undefined ? {} : { failure_reason: reason }),
      ...(exitCode === undefined ? {} : { exit_code: exitCode }),
      checksum,
      output: { checksum, bytesize: size },
      info: runnerInfo(this.#version),
    }
  }
}
