import { setTimeout as sleep } from 'node:timers/promises'
import { newToken, digestToken } from '../../kernel/lib/secrets.ts'
import type { Database, Notifications } from '../../kernel/db/index.ts'
import type { Logger } from '../../kernel/log/index.ts'
import { jobTokenPrefix } from '../../access/index.ts'
import { jobsChannel } from '../pipelines/index.ts'
import { claimJobs, type Claim, type RunnerClass } from './claim.ts'

/** Told with the id of a runner whose row was changed: who waits in its name must ask anew. */
export const runnersChannel = 'ci_runners'

/** A runner that asks for a job. */
export interface Asking {
  readonly runnerId: number
  readonly version: string
  readonly managerId: number | null
  readonly graceful: boolean
  readonly maximumTimeout: number | null
  readonly of: RunnerClass
}

export interface Handed extends Omit<Claim, 'place'> {
  readonly token: string
  /** Until its pipeline has heard of it, which it should before its runner says more. */
  readonly started: Promise<void>
}

interface Waiter {
  readonly asking: Asking
  readonly token: string
  readonly resolve: (handed: Handed | undefined) => void
  /** Waits on when there is nothing; else the answer to that is undefined. */
  readonly holds: boolean
  readonly signal: AbortSignal
}

export interface QueueServices {
  readonly db: Database
  readonly notifications: Notifications
  readonly log: Logger
  /** Tells pipelines which jobs of theirs were taken. */
  readonly started: (jobs: readonly Claim[]) => Promise<void>
}

/** Runners that may have the same jobs, the longest waiting first. */
interface Line {
  readonly of: RunnerClass
  readonly waiters: Set<Waiter>
  /** Looked through since the last news, and nothing was left. */
  dry: boolean
}

/** Jobs taken by one statement. */
const batch = 20
const mostLines = 1000
/** Milliseconds after which jobs are looked at again that another node was taking. */
const passedOver = 10
/** Should news be lost, jobs are found after this many milliseconds. */
const safetyInterval = 30_000

/**
 * The runners that wait at this node. News of a pending job makes it look once for each kind of runner that waits,
 * and hand what it finds to the runners one after the other: a thousand idle runners cost nothing.
 */
export class JobQueue implements AsyncDisposable {
  readonly #db: Database
  readonly #log: Logger
  readonly #started: QueueServices['started']
  readonly #lines = new Map<string, Line>()
  readonly #timer: NodeJS.Timeout
  #news = 0
  #running: Promise<void> | undefined
  #closed = false

  constructor({ db, notifications, log, started }: QueueServices) {
    this.#db = db
    this.#log = log
    this.#started = started
    notifications.subscribe(jobsChannel, () => this.wake())
    notifications.subscribe(runnersChannel, (id) => this.#dismiss(id))
    this.#timer = setInterval(() => this.wake(), safetyInterval).unref()
  }

  /** A job for this runner, or undefined: at once when there is none and it does not hold, or when `signal` says so. */
  ask(
    asking: Asking,
    { holds, signal }: { holds: boolean; signal: AbortSignal },
  ): Promise<Handed | undefined> {
    const { promise, resolve } = Promise.withResolvers<Handed | undefined>()
    const line = this.#line(asking.of)
    if (signal.aborted || this.#closed || (line.dry && !holds)) return Promise.resolve(undefined)
    const waiter: Waiter = { asking, token: newToken(jobTokenPrefix), resolve, holds, signal }
    line.waiters.add(waiter)
    signal.addEventListener(
      'abort',
      () => {
        if (line.waiters.delete(waiter)) resolve(undefined)
      },
      { once: true },
    )
    if (!line.dry) this.#start()
    return promise
  }

  /** Something may be waiting. */
  wake(): void {
    this.#news += 1
    let wanted = false
    for (const line of this.#lines.values()) {
      line.dry = false
      wanted ||= line.waiters.size > 0
    }
    if (wanted) this.#start()
  }

  get waiting(): number {
    return this.#lines.values().reduce((sum, { waiters }) => sum + waiters.size, 0)
  }

  #line(of: RunnerClass): Line {
    const key = JSON.stringify(of)
    let line = this.#lines.get(key)
    if (line === undefined) {
      line = { of, waiters: new Set(), dry: false }
      this.#lines.set(key, line)
      if (this.#lines.size > mostLines) {
        const empty = this.#lines.entries().find(([, { waiters }]) => waiters.size === 0)
        if (empty !== undefined) this.#lines.delete(empty[0])
      }
    }
    return line
  }

  #start(): void {
    if (this.#running !== undefined || this.#closed) return
    this.#running = this.#run()
      .catch((error: unknown) => this.#log.error({ err: error }, 'jobs could not be handed to runners'))
      .finally(() => {
        this.#running = undefined
        // News that came in the last moment.
        if (this.#open().length > 0) this.#start()
      })
  }

  #open(): Line[] {
    return [...this.#lines.values()].filter(({ waiters, dry }) => waiters.size > 0 && !dry)
  }

  async #run(): Promise<void> {
    for (let lines = this.#open(); lines.length > 0 && !this.#closed; lines = this.#open()) {
      for (const line of lines) await this.#serve(line)
    }
  }

  async #serve(line: Line): Promise<void> {
    const news = this.#news
    const waiters = [...line.waiters].slice(0, batch)
    // Meanwhile nobody else sees them. Who hangs up now and is given a job gives it back.
    for (const waiter of waiters) line.waiters.delete(waiter)
    let result: { claims: Claim[]; locked: number; exhausted: boolean }
    try {
      result = await claimJobs(
        this.#db.writer,
        line.of,
        waiters.map(({ asking, token }) => ({ ...asking, tokenDigest: digestToken(token) })),
      )
    } catch (error) {
      for (const waiter of waiters) waiter.resolve(undefined)
      throw error
    }
    const served = new Set<Waiter>()
    const started = this.#tell(result.claims)
    for (const { place, ...claim } of result.claims) {
      const waiter = waiters[place]!
      served.add(waiter)
      waiter.resolve({ ...claim, token: waiter.token, started })
    }
    for (const [place, waiter] of waiters.entries()) {
      if (served.has(waiter)) continue
      // A job was there for this one, who did not get it: who it was has changed, and it asks anew.
      if (place < result.locked || waiter.signal.aborted || this.#closed) waiter.resolve(undefined)
      else line.waiters.add(waiter)
    }
    if (result.locked === waiters.length) return
    if (!result.exhausted) await sleep(passedOver)
    else if (this.#news === news) this.#runDry(line)
  }

  /** Never fails: a pipeline that did not hear of it sees it at its next step. */
  async #tell(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) return
    try {
      await this.#started(claims)
    } catch (error) {
      this.#log.warn({ err: error }, 'pipelines could not be told that their jobs run')
    }
  }

  /** Nothing is left for these; whoever came meanwhile and does not hold is told so, too. */
  #runDry(line: Line): void {
    line.dry = true
    for (const waiter of line.waiters) {
      if (waiter.holds) continue
      line.waiters.delete(waiter)
      waiter.resolve(undefined)
    }
  }

  /** No id: something may have been missed, and all ask anew. */
  #dismiss(id: string): void {
    for (const line of this.#lines.values()) {
      for (const waiter of line.waiters) {
        if (id !== '' && String(waiter.asking.runnerId) !== id) continue
        line.waiters.delete(waiter)
        waiter.resolve(undefined)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    this.#dismiss('')
    await this.#running
  }
}
