import { BatchProcess, type ObjectAnswer, type ObjectHeader, type Question } from './batch-process.ts'
import { GitError } from './git-error.ts'
import type { Rev, TreePath } from './parse.ts'
import type { Workplace } from './run.ts'

export type { ObjectAnswer, ObjectHeader, ObjectType } from './batch-process.ts'

declare const brand: unique symbol
/** What the object reader may be asked for. Comes only from `objectName`. */
export type ObjectName = string & { readonly [brand]: 'object' }

export function objectName(rev: Rev, path?: TreePath): ObjectName {
  return (path === undefined ? rev : `${rev}:${path}`) as ObjectName
}

/** The object behind tags: the commit that a tag or a commit names, or the tree of either. */
export function peeled(rev: Rev, type: 'commit' | 'tree'): ObjectName {
  return `${rev}^{${type}}` as ObjectName
}

interface Seat {
  readonly process: BatchProcess
  idle: NodeJS.Timeout | undefined
}

export interface ObjectReadersOptions {
  /** Most processes at one time, over all repositories. */
  readonly processes: number
  /** Milliseconds after which an unused process is ended. */
  readonly idle: number
}

/** Long-lived object readers, one a repository at most, started when first asked and ended when idle. */
export class ObjectReaders implements AsyncDisposable {
  readonly #options: ObjectReadersOptions
  /** The least recently used first. */
  readonly #seats = new Map<string, Seat>()
  readonly #waiting: (() => void)[] = []
  readonly #closing = new Set<Promise<void>>()
  #closed = false

  constructor(options: ObjectReadersOptions) {
    this.#options = options
  }

  get processes(): number {
    return this.#seats.size
  }

  async header(place: Workplace, name: ObjectName): Promise<ObjectHeader | undefined> {
    return this.#ask(place, 'info', name, 0)
  }

  /** The whole object, or `undefined` when there is none. Larger ones than `limit` bytes throw `too-large`. */
  async object(
    place: Workplace,
    name: ObjectName,
    limit = 32 * 1024 * 1024,
  ): Promise<ObjectAnswer | undefined> {
    return this.#ask(place, 'contents', name, limit)
  }

  /** Ends the process that reads this place, when its open questions are answered. */
  async release(place: Workplace): Promise<void> {
    const key = keyOf(place)
    const seat = this.#seats.get(key)
    if (seat !== undefined) await this.#end(key, seat)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    for (const [key, seat] of this.#seats) void this.#end(key, seat)
    for (const go of this.#waiting.splice(0)) go()
    await Promise.all(this.#closing)
  }

  async #ask(
    place: Workplace,
    command: Question['command'],
    name: ObjectName,
    limit: number,
  ): Promise<ObjectAnswer | undefined> {
    const key = keyOf(place)
    while (!this.#closed && !this.#seats.has(key) && !this.#makeRoom()) {
      await new Promise<void>((go) => this.#waiting.push(go))
    }
    if (this.#closed) throw new GitError('aborted', 'the object reader is closed')
    return new Promise((resolve, reject) => {
      this.#seat(key, place).process.ask({ command, name, limit, resolve, reject })
    }).finally(() => this.#answered(key)) as Promise<ObjectAnswer | undefined>
  }

  #seat(key: string, place: Workplace): Seat {
    let seat = this.#seats.get(key)
    if (seat === undefined) {
      const made: Seat = {
        process: new BatchProcess(place, (orphans) => {
          if (this.#seats.get(key) === made) this.#seats.delete(key)
          clearTimeout(made.idle)
          for (const { command, name, limit, resolve, reject } of orphans) {
            this.#ask(place, command, name as ObjectName, limit).then(resolve, reject)
          }
          this.#waiting.shift()?.()
        }),
        idle: undefined,
      }
      seat = made
    }
    clearTimeout(seat.idle)
    this.#seats.delete(key)
    this.#seats.set(key, seat)
    return seat
  }

  #answered(key: string): void {
    const seat = this.#seats.get(key)
    if (seat === undefined || seat.process.busy) return
    clearTimeout(seat.idle)
    seat.idle = setTimeout(() => void this.#end(key, seat), this.#options.idle).unref()
    if (this.#waiting.length > 0) this.#waiting.shift()?.()
  }

  /** Whether one more process may be started, ending the one that was idle the longest if need be. */
  #makeRoom(): boolean {
    if (this.#seats.size < this.#options.processes) return true
    for (const [key, seat] of this.#seats) {
      if (seat.process.busy) continue
      void this.#end(key, seat)
      return true
    }
    return false
  }

  #end(key: string, seat: Seat): Promise<void> {
    clearTimeout(seat.idle)
    if (this.#seats.get(key) === seat) this.#seats.delete(key)
    const closing = seat.process.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
    return closing
  }
}

function keyOf(place: Workplace): string {
  return `${place.path}\0${place.quarantine ?? ''}`
}
