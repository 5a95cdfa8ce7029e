import pg from 'pg'
import { LruMap } from '../lib/lru.ts'
import { countStatement, type Logger } from '../log/index.ts'
import { asker, batchOf, type Batch } from './batch.ts'
import { Client } from './client.ts'
import type { Statement } from './compile.ts'
import { isDatabaseError, isOfStatement } from './errors.ts'

/** Milliseconds before a lost connection is sought again. */
const pause = 250

/** Milliseconds after which a statement is ended: those behind it wait. */
const longest = 5_000

/** The class of errors in a statement's text, not in its values. */
const badText = '42'

/** Texts are of our own making, but a caller's filters choose among many. */
const rememberedTexts = 1_000

/** Fewer askers are not divided among connections. */
const smallestShare = 8

/** Askers of one statement: those who wait for it wait for the last of them. */
const largestBatch = 100

type Row = Record<string, unknown>

interface Asker {
  readonly statement: Statement
  /** Undefined: it has to be asked elsewhere. */
  readonly answer: (rows: Row[] | undefined) => void
  readonly fail: (error: unknown) => void
}

/**
 * Few connections for reads that find few rows by an index. While all are at work, what is asked is gathered; those
 * that are free next share it, each in one write, and the same statement with other values only once, which spares the
 * database and us most of what such a read costs. A slow statement would hold up all behind it, so nothing else may
 * come here.
 */
export class FastLane implements AsyncDisposable {
  readonly #connections: Connection[]
  #gathered: Asker[] = []
  #due = false

  constructor(connection: pg.ClientConfig, size: number, log: Logger) {
    const next = (): void => this.#sendSoon()
    this.#connections = Array.from({ length: size }, () => new Connection(connection, next, log))
  }

  /** The rows; undefined when there is no connection at the moment or the statement cannot share one with others. */
  rows(statement: Statement): Promise<Row[] | undefined> | undefined {
    if (!this.#connections.some(({ open }) => open)) return undefined
    countStatement(statement.text)
    return new Promise((answer, fail) => {
      this.#gathered.push({ statement, answer, fail })
      this.#sendSoon()
    })
  }

  /** At the end of this turn of the event loop: others may ask in it, too. */
  #sendSoon(): void {
    if (this.#due || this.#gathered.length === 0) return
    this.#due = true
    setImmediate(() => {
      this.#due = false
      const open = this.#connections.filter((each) => each.open)
      const free = open.filter((each) => !each.busy)
      // All at work: the first that has finished calls again.
      if (free.length === 0 && open.length > 0) return
      const askers = this.#gathered
      this.#gathered = []
      if (free.length === 0) for (const { answer } of askers) answer(undefined)
      // What one takes alone leaves the others, and then us, with nothing to do.
      const share = Math.max(smallestShare, Math.ceil(askers.length / free.length))
      for (const each of free) if (askers.length > 0) each.send(askers.splice(0, share))
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#connections.map((each) => each[Symbol.asyncDispose]()))
  }
}

class Connection implements AsyncDisposable {
  readonly #config: pg.ClientConfig
  readonly #log: Logger
  readonly #next: () => void
  /** By text; null where each must ask for himself. */
  readonly #batches = new LruMap<string, Batch | null>(rememberedTexts)
  #client: Client | undefined
  #opening: Promise<void>
  #timer: NodeJS.Timeout | undefined
  #disposed = false
  #waiting = 0

  /** `next` is called whenever it is free again, or gone. */
  constructor(config: pg.ClientConfig, next: () => void, log: Logger) {
    this.#config = {
      ...config,
      application_name: 'guildhall-lane',
      statement_timeout: longest,
      pipeline: true,
    }
    this.#next = next
    this.#log = log
    this.#opening = this.#connect()
  }

  get open(): boolean {
    return this.#client !== undefined
  }

  get busy(): boolean {
    return this.#waiting > 0
  }

  /** Sends all in one write. */
  send(askers: readonly Asker[]): void {
    const client = this.#client!
    const { stream } = (client as unknown as { connection: { stream: import('node:net').Socket } }).connection
    stream.cork()
    for (const same of groups(askers)) void this.#ask(client, same)
    stream.uncork()
  }

  async #ask(client: Client, askers: readonly Asker[]): Promise<void> {
    this.#waiting += 1
    try {
      const { text } = askers[0]!.statement
      const batch = this.#batches.get(text)
      if (askers.length > 1 && batch) await this.#askTogether(client, batch, askers)
      else await this.#askEach(client, askers, batch === undefined)
    } finally {
      this.#waiting -= 1
      if (this.#waiting === 0) this.#next()
    }
  }

  async #askEach(client: Client, askers: readonly Asker[], isNew: boolean): Promise<void> {
    const results = askers.map(async ({ statement, answer, fail }) => {
      await client
        .send(statement.text, statement.values)
        .then(({ rows }) => answer(rows))
        .catch((error: unknown) => (isOfStatement(error) ? fail(error) : answer(undefined)))
    })
    if (isNew) await this.#learn(client, askers[0]!.statement.text)
    await Promise.all(results)
  }

  /** Behind a statement that was sent for the first time: what types its parameters have is known by then. */
  async #learn(client: Client, text: string): Promise<void> {
    this.#batches.set(text, null)
    try {
      const { rows } = await client.send(
        'select parameter_types::text[] as types from pg_prepared_statements where statement = $1',
        [text],
      )
      if (rows[0] !== undefined) this.#batches.set(text, batchOf(text, rows[0]['types'] as string[]))
    } catch (error) {
      this.#log.debug({ reason: (error as Error).message }, 'the types of a statement are not known')
    }
  }

  async #askTogether(client: Client, batch: Batch, askers: readonly Asker[]): Promise<void> {
    const found: Row[][] = askers.map(() => [])
    try {
      const values = batch.values(askers.map(({ statement }) => statement.values))
      const { rows } = await client.send(batch.text, values)
      for (const { [asker]: whose, ...row } of rows) found[(whose as number) - 1]!.push(row)
    } catch (error) {
      // The values of one spoil it for all: each asks for himself. A text that cannot be asked so is not tried again.
      if (isDatabaseError(error) && error.code?.startsWith(badText) === true) {
        this.#batches.set(askers[0]!.statement.text, null)
        this.#log.warn({ reason: error.message }, 'a statement cannot be asked for many')
      }
      for (const { answer } of askers) answer(undefined)
      return
    }
    askers.forEach(({ answer }, at) => answer(found[at]))
  }

  async #connect(): Promise<void> {
    const client = new Client(this.#config)
    const lost = (reason: string): void => {
      if (this.#client === client) {
        this.#client = undefined
        this.#batches.clear()
        this.#next()
      }
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

/** Those who ask the same, no more of them than may wait for one another. */
function groups(askers: readonly Asker[]): Asker[][] {
  const made: Asker[][] = []
  const open = new Map<string, Asker[]>()
  for (const each of askers) {
    const { text } = each.statement
    let group = open.get(text)
    if (group === undefined || group.length === largestBatch) {
      group = []
      open.set(text, group)
      made.push(group)
    }
    group.push(each)
  }
  return made
}
