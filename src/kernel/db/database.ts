import { AsyncLocalStorage } from 'node:async_hooks'
import { Kysely, PostgresDialect, type RawBuilder, type Transaction } from 'kysely'
import { sql } from './sql.ts'
import pg from 'pg'
import { currentChain } from '../lib/chain.ts'
import { countStatement, type Logger } from '../log/index.ts'
import { Client } from './client.ts'
import { compileTemplates, type Statement } from './compile.ts'
import { isDatabaseError } from './errors.ts'
import { FastLane } from './fast-lane.ts'
import { GatheredWrites, type WriteAll } from './gathered-writes.ts'
import type { DB } from './schema.ts'

/** What only reads: `select` and nothing else compiles. */
export type Reader = Pick<
  Kysely<DB>,
  'selectFrom' | 'selectNoFrom' | 'with' | 'withRecursive' | 'getExecutor'
>

/** What runs one statement of its own, quickly. */
export type Statements = Pick<Database, 'rows' | 'prepare' | 'run'>

/** A statement that is put together for many uses; `bounded` as of `Database.rows`. */
export interface Prepared<Row> extends Statement {
  readonly extent: 'bounded' | undefined
  /** Only for the type checker. */
  readonly types?: Row
}

/** A transaction. It comes only from `Database.transaction`. */
export type Tx = Transaction<DB>

/** One statement that commits by itself, or a transaction: for writes that are whole in one statement. */
export type Writer = Kysely<DB>

export interface DatabaseOptions {
  connection: pg.ClientConfig
  /** Connections for requests. */
  size?: number
  /** Connections of the fast lane; none by default: its statements go with the others. */
  lane?: number
  log: Logger
}

/** One of our clients, as the pool lends it. */
type Lent = Pick<Client, 'send'> & Pick<pg.PoolClient, 'release'>

/** Serialisation failure and deadlock: PostgreSQL asks to run the transaction again. */
const retryable = new Set(['40001', '40P01'])
const attempts = 5

/**
 * Statements are short and prepared once, while compiling one to machine code takes up to seconds on a server where
 * that is on. An address of the database with options of its own decides for itself.
 */
function withoutJit(connection: pg.ClientConfig): pg.ClientConfig {
  return { ...connection, options: [connection.options, '-c jit=off'].join(' ').trim() }
}

/**
 * Two pools on one database: `reader`/`writer` for what is bounded, `slow` (with a statement time-out) for counts,
 * exports and other reads without a bound, so that these never hold up the quick ones.
 */
export class Database implements AsyncDisposable {
  readonly writer: Writer
  readonly slow: Reader
  readonly #fast: pg.Pool
  readonly #pools: pg.Pool[]
  readonly #lane: FastLane
  readonly #log: Logger
  /** Of the work of a transaction, whether that still runs. */
  readonly #transaction = new AsyncLocalStorage<{ open: boolean }>()
  readonly connection: pg.ClientConfig

  constructor({ connection: asked, size = 8, lane = 0, log }: DatabaseOptions) {
    this.connection = asked
    this.#log = log
    const connection = withoutJit(asked)
    const pool = (max: number, extra: pg.PoolConfig): pg.Pool => {
      const made = new pg.Pool({
        ...connection,
        ...extra,
        max,
        Client,
        connectionTimeoutMillis: 10_000,
        idleTimeoutMillis: 60_000,
      })
      // The error carries the whole client; its message is all that helps. A pool's end does not wait for its connections.
      made.on('error', ({ message }) => {
        if (!made.ending) log.warn({ reason: message }, 'an idle database connection broke')
      })
      const connect = made.connect.bind(made) as () => Promise<pg.PoolClient>
      made.connect = (() => {
        this.#complainInTransaction()
        return connect()
      }) as typeof made.connect
      return made
    }
    const fast = pool(size, { application_name: 'guildhall' })
    const slow = pool(3, { application_name: 'guildhall-slow', statement_timeout: 15_000 })
    this.#fast = fast
    this.#pools = [fast, slow]
    this.#lane = new FastLane(connection, lane, log)
    this.writer = new Kysely<DB>({ dialect: new PostgresDialect({ pool: fast }) })
    this.slow = new Kysely<DB>({ dialect: new PostgresDialect({ pool: slow }) })
  }

  get reader(): Reader {
    return this.writer
  }

  /**
   * The rows of one statement, sent to the pool directly: half the cost of going through Kysely's executor, for the
   * statement that every request makes. `bounded`: it finds few rows by an index, and may use the fast lane.
   */
  async rows<Row>(statement: RawBuilder<Row>, extent?: 'bounded'): Promise<Row[]> {
    return this.run(this.prepare(statement, extent))
  }

  /** Puts a statement together that is sent again and again, by `run`. */
  prepare<Row>(statement: RawBuilder<Row>, extent?: 'bounded'): Prepared<Row> {
    return { ...this.#compile(statement), extent }
  }

  /** As `rows`. */
  async run<Row>(statement: Prepared<Row>): Promise<Row[]> {
    if (statement.extent === 'bounded') {
      this.#complainInTransaction()
      const found = await this.#lane.rows(statement)
      if (found !== undefined) return found as Row[]
    }
    countStatement(statement.text)
    return (await this.#send(statement)) as Row[]
  }

  /** For writes that many make at once, each whole in itself. */
  gathered<Item, Row>(writeAll: WriteAll<Item, Row>): GatheredWrites<Item, Row> {
    const compile = (statement: RawBuilder<unknown>): Statement => this.#compile(statement)
    return new GatheredWrites({ compile, send: (statement) => this.#send(statement) }, writeAll)
  }

  #compile(statement: RawBuilder<unknown>): Statement {
    const made = compileTemplates(statement)
    if (made !== undefined) return made
    const { sql: text, parameters } = statement.compile(this.writer)
    return { text, values: [...parameters] }
  }

  async #send({ text, values }: Statement): Promise<unknown[]> {
    // Not pool.query: that one may send it in the context of whichever request gave the connection back.
    const client = (await this.#fast.connect()) as unknown as Lent
    try {
      return (await client.send(text, values)).rows
    } finally {
      client.release()
    }
  }

  /** Runs `work` in one transaction, again when PostgreSQL says that it clashed with another one. */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.writer.transaction().execute(async (tx) => {
          await nameChain(tx)
          return this.#inTransaction(() => work(tx))
        })
      } catch (error) {
        if (attempt >= attempts || !isDatabaseError(error) || !retryable.has(error.code ?? '')) throw error
      }
    }
  }

  async #inTransaction<T>(work: () => Promise<T>): Promise<T> {
    const mark = { open: true }
    try {
      return await this.#transaction.run(mark, work)
    } finally {
      mark.open = false
    }
  }

  /**
   * Work that holds a connection and waits for another one never ends once as many do so as there are connections:
   * what it reads, it reads by its transaction.
   */
  #complainInTransaction(): void {
    if (this.#transaction.getStore()?.open !== true) return
    this.#log.error({ err: new Error('a transaction asks for a second connection') })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#lane[Symbol.asyncDispose](), ...this.#pools.map((pool) => pool.end())])
  }
}

/** Tells triggers that queue tasks which chain they belong to. */
async function nameChain(tx: Tx): Promise<void> {
  const chain = currentChain()
  if (chain === undefined) return
  await sql`select set_config('guildhall.chain', ${JSON.stringify(chain)}, true)`.execute(tx)
}
