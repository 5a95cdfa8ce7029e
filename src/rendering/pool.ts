import { Worker } from 'node:worker_threads'
import type { Candidate, RenderInput, Resolved } from './types.ts'
import type { FromWorker, ToWorker } from './worker.ts'

export interface Job {
  readonly input: RenderInput
  /** What its references mean, if that is known. */
  readonly resolved?: Resolved | undefined
  /** Asked once, unless `resolved` is given and when there are candidates. */
  readonly resolve: (candidates: readonly Candidate[]) => Promise<Resolved>
}

export interface Rendered {
  readonly html: string
  readonly candidates: readonly Candidate[]
}

/** Why there is no HTML: it took too long, or the text brought the worker down. */
export class RenderFailure extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'RenderFailure'
  }
}

interface Waiting {
  readonly job: Job
  readonly settle: (result: Rendered | Error) => void
}

interface Seat {
  readonly worker: Worker
  ready: boolean
  current: (Waiting & { readonly id: number; readonly timer: NodeJS.Timeout }) | undefined
}

export interface PoolOptions {
  readonly workers: number
  /** Milliseconds that one text may take; waiting for a worker does not count. */
  readonly timeLimit: number
  /** MiB that one worker may use. */
  readonly memory: number
}

/** Characters from which a text is long: it may take seconds. */
const long = 200_000
const isLong = ({ job }: Waiting): boolean => job.input.text.length >= long

/**
 * Threads that render, so that the one that answers requests never waits for a text. Each has one text at a time. All
 * but one may be at long texts: a short one does not wait for those.
 */
export class WorkerPool implements AsyncDisposable {
  readonly #options: PoolOptions
  readonly #seats = new Set<Seat>()
  readonly #queue: Waiting[] = []
  #lastId = 0
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** Rejects with `RenderFailure`. */
  render(job: Job): Promise<Rendered> {
    return new Promise((resolve, reject) => {
      if (this.#closed) {
        reject(new RenderFailure('closed'))
        return
      }
      const settle = (result: Rendered | Error): void => {
        if (result instanceof Error) reject(result)
        else resolve(result)
      }
      this.#queue.push({ job, settle })
      this.#next()
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    for (const { settle } of this.#queue.splice(0)) settle(new RenderFailure('closed'))
    await Promise.all([...this.#seats].map((seat) => this.#end(seat, 'closed')))
  }

  #next(): void {
    const next = this.#closed ? -1 : this.#queue.findIndex((waiting) => this.#mayBegin(waiting))
    if (next === -1) return
    const free = [...this.#seats].find(({ ready, current }) => ready && current === undefined)
    if (free !== undefined) {
      this.#give(free, this.#queue.splice(next, 1)[0]!)
      this.#next()
    } else if (this.#starting() < this.#queue.length && this.#seats.size < this.#options.workers)
      this.#start()
  }

  #mayBegin(waiting: Waiting): boolean {
    if (!isLong(waiting)) return true
    const begun = [...this.#seats].filter(({ current }) => current !== undefined && isLong(current)).length
    return begun < Math.max(1, this.#options.workers - 1)
  }

  #starting(): number {
    return [...this.#seats].filter(({ ready }) => !ready).length
  }

  #start(): void {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#options.memory, stackSizeMb: 16 },
      // Nothing of the outside: no environment, no arguments.
      env: {},
      execArgv: [],
    })
    worker.unref()
    const seat: Seat = { worker, ready: false, current: undefined }
    this.#seats.add(seat)
    worker.on('message', (message: FromWorker) => this.#heard(seat, message))
    worker.on('error', (error) => void this.#end(seat, error instanceof Error ? error.message : 'broken'))
    worker.on('exit', () => void this.#end(seat, 'ended'))
  }

  #give(seat: Seat, { job, settle }: Waiting): void {
    const id = (this.#lastId += 1)
    const timer = setTimeout(() => void this.#end(seat, 'it took too long'), this.#options.timeLimit)
    seat.current = { id, job, settle, timer }
    this.#say(seat, {
      kind: 'render',
      id,
      input: job.input,
      ...(job.resolved !== undefined && { resolved: job.resolved }),
    })
  }

  #say({ worker }: Seat, message: ToWorker): void {
    worker.postMessage(message)
  }

  #heard(seat: Seat, message: FromWorker): void {
    if (message.kind === 'ready') {
      seat.ready = true
      this.#next()
      return
    }
    const { current } = seat
    if (current?.id !== message.id) return
    if (message.kind === 'candidates') {
      const { id, job } = current
      job.resolve(message.candidates).then(
        (resolved) => {
          if (seat.current?.id === id) this.#say(seat, { kind: 'resolved', id, resolved })
        },
        (error: unknown) => {
          // Ours, not the text's; the worker forgets the draft with the next message for it.
          if (seat.current?.id !== id) return
          this.#say(seat, { kind: 'resolved', id, resolved: {} })
          current.settle(error instanceof Error ? error : new RenderFailure('unresolved'))
        },
      )
      return
    }
    this.#free(seat)
    current.settle(message.kind === 'html' ? message : new RenderFailure(message.reason))
    this.#next()
  }

  #free(seat: Seat): void {
    clearTimeout(seat.current?.timer)
    seat.current = undefined
  }

  async #end(seat: Seat, reason: string): Promise<void> {
    if (!this.#seats.delete(seat)) return
    const { current } = seat
    this.#free(seat)
    current?.settle(new RenderFailure(reason))
    await seat.worker.terminate()
    this.#next()
  }
}
