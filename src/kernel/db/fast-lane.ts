import pg from 'pg'
import type { Logger } from '../log/index.ts'
import { Client } from './client.ts'
import type { Statement } from './compile.ts'

/** Milliseconds before a lost connection is sought again. */
const pause = 250

/** Milliseconds after which a statement is ended: those behind it wait. */
const longest = 5_000

/**
 * Few connections that each carry many statements at once, for reads that find few rows by an index: those that are
 * asked in one turn of the event loop go out in one write, which spares each of them system calls and a switch of
 * processes. A slow statement would hold up all behind it, so nothing else may come here.
 */
export class FastLane implements AsyncDisposable {
  readonly #connections: Connection[]

  constructor(connection: pg.ClientConfig, size: number, log: Logger) {
    this.#connections = Array.from({ length: size }, () => new Connection(connection, log))
  }

  /** The rows, or undefined when there is no connection at the moment. */
  rows(statement: Statement): Promise<unknown[]> | undefined {
    let quietest: Connection | undefined
    for (const each of this.#connections) {
      if (each.open && (quietest === undefined || each.waiting < quietest.waiting)) quietest = each
    }
    return quietest?.rows(statement)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#connections.map((each) => each[Symbol.asyncDispose]()))
  }
}

class Connection implements AsyncDisposable {
  readonly #config: pg.ClientConfig
  readonly #log: Logger
  #client: Client | undefined
  #opening: Promise<void>
  #timer: NodeJS.Timeout | undefined
  #disposed = false
  #corked = false
  waiting = 0

  constructor(config: pg.ClientConfig, log: Logger) {
    this.#config = {
      ...config,
      application_name: 'guildhall-lane',
      statement_timeout: longest,
      pipeline: true,
    }
    this.#log = log
    this.#opening = this.#connect()
  }

  get open(): boolean {
    return this.#client !== undefined
  }

  async rows({ text, values }: Statement): Promise<unknown[]> {
    const client = this.#client!
    this.#cork(client)
    this.waiting += 1
    try {
      const { rows } = (await client.query(text, values)) as { rows: unknown[] }
      return rows
    } finally {
      this.waiting -= 1
    }
  }

  /** What is sent until the end of this turn goes out together. */
  #cork(client: Client): void {
    if (this.#corked) return
    this.#corked = true
    const { stream } = (client as unknown as { connection: { stream: import('node:net').Socket } }).connection
    stream.cork()
    setImmediate(() => {
      this.#corked = false
      stream.uncork()
    })
  }

  async #connect(): Promise<void> {
    const client = new Client(this.#config)
    const lost = (reason: string): void => {
      if (this.#client === client) this.#client = undefined
      if (this.#disposed || this.#timer !== undefined) return
      this.#log.debug({ reason }, 'a connection of the fast lane is gone')
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        this.#opening = this.#connect()
      }, pause).unref()
    }
    client.on('error', ({ message }: Error) => lost(message))
    client.on('end', () => lost('ended'))
    try {
      await client.connect()
      // Its statements go by an index whatever the values: planning them anew would cost more than running them.
      await client.query('set plan_cache_mode = force_generic_plan')
      if (this.#disposed) await client.end()
      else this.#client = client
    } catch (error) {
      lost((error as Error).message)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    clearTimeout(this.#timer)
    await this.#opening
    const client = this.#client
    this.#client = undefined
    await client?.end()
  }
}
