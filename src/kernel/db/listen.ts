import { setTimeout as sleep } from 'node:timers/promises'
import type { RawBuilder } from 'kysely'
import pg from 'pg'
import type { Logger } from '../log/index.ts'
import { sql } from './sql.ts'

type Handler = (payload: string) => void

const lock = (name: string): string => `hashtextextended('held ' || ${name}, 0)`
const take = `select pg_advisory_lock_shared(${lock('$1')})`
const letGo = `select pg_advisory_unlock_shared(${lock('$1')})`

/** A condition on a column of names: no process holds it. */
export const unheld = (column: string): RawBuilder<unknown> =>
  sql.raw(`pg_try_advisory_xact_lock(${lock(column)})`)

/**
 * One connection that listens. News only makes things faster: whoever subscribes can also do without it, and hears
 * an empty payload after each new connection, since something may have been missed.
 */
export class Notifications implements AsyncDisposable {
  readonly #connection: pg.ClientConfig
  readonly #log: Logger
  readonly #handlers = new Map<string, Set<Handler>>()
  readonly #held = new Set<string>()
  readonly #closing = new AbortController()
  #client: pg.Client | undefined
  #loop: Promise<void> | undefined

  constructor(connection: pg.ClientConfig, log: Logger) {
    this.#connection = connection
    this.#log = log
  }

  /** Call before `start`. Channel names are ours, never input. */
  subscribe(channel: string, handler: Handler): void {
    const handlers = this.#handlers.get(channel) ?? new Set()
    this.#handlers.set(channel, handlers.add(handler))
  }

  /**
   * Shows others that this process lives: see `unheld`. A connection that breaks shows the contrary until the next one
   * is there.
   */
  async hold(name: string): Promise<void> {
    this.#held.add(name)
    // Where that fails the connection is gone, and the next one does it.
    await this.#client?.query(take, [name]).catch(() => undefined)
  }

  async release(name: string): Promise<void> {
    this.#held.delete(name)
    await this.#client?.query(letGo, [name]).catch(() => undefined)
  }

  async start(): Promise<void> {
    await this.#connect()
    this.#loop = this.#keepConnected()
  }

  #lost: PromiseWithResolvers<void> = Promise.withResolvers()

  async #connect(): Promise<void> {
    const client = new pg.Client({
      ...this.#connection,
      application_name: 'guildhall-listen',
      keepAlive: true,
    })
    this.#lost = Promise.withResolvers()
    const lost = this.#lost
    client.on('notification', ({ channel, payload }) => this.#emit(channel, payload ?? ''))
    client.on('error', () => lost.resolve())
    client.on('end', () => lost.resolve())
    await client.connect()
    for (const channel of this.#handlers.keys())
      await client.query(`listen ${client.escapeIdentifier(channel)}`)
    for (const name of this.#held) await client.query(take, [name])
    this.#client = client
    for (const channel of this.#handlers.keys()) this.#emit(channel, '')
  }

  async #keepConnected(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#lost.promise
      if (this.#isClosing()) return
      this.#log.warn('the listening connection broke; connecting again')
      while (!(await this.#reconnect()) && !this.#isClosing()) {
        await sleep(500, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  async #reconnect(): Promise<boolean> {
    try {
      await this.#connect()
      return true
    } catch {
      return false
    }
  }

  #isClosing(): boolean {
    return this.#closing.signal.aborted
  }

  #emit(channel: string, payload: string): void {
    for (const handler of this.#handlers.get(channel) ?? []) handler(payload)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    this.#lost.resolve()
    await this.#loop
    await this.#client?.end()
  }
}
