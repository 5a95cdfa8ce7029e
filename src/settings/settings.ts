import { sql } from 'kysely'
import type { Database, Notifications } from '../kernel/db/index.ts'
import type { Logger } from '../kernel/log/index.ts'
import { catalogue, defaults, type SettingValues } from './catalogue/index.ts'
import { flags, flagsOf, storedName, type FlagName, type Flags } from './flags.ts'

const channel = 'settings'
/** Should a notification be lost, a change is seen after this many milliseconds. */
const refreshInterval = 60_000

/** The typed snapshot that all code reads; a change replaces it on every node. */
export class Settings implements AsyncDisposable {
  readonly #db: Database
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  #values: SettingValues = defaults
  #flags: Flags = flags

  constructor(db: Database, notifications: Notifications, log: Logger) {
    this.#db = db
    this.#log = log
    notifications.subscribe(channel, () => void this.#refresh())
    this.#timer = setInterval(() => void this.#refresh(), refreshInterval).unref()
  }

  get values(): SettingValues {
    return this.#values
  }

  get flags(): Flags {
    return this.#flags
  }

  async load(): Promise<void> {
    const stored = await this.#db.reader
      .selectFrom('application_settings as s')
      .select(['s.name', 's.value'])
      .execute()
    // A row of a newer version's setting is left alone.
    const known = stored.filter(({ name }) => name in catalogue).map(({ name, value }) => [name, value])
    this.#values = { ...defaults, ...(Object.fromEntries(known) as Partial<SettingValues>) }
    this.#flags = flagsOf(stored)
  }

  /** Stores checked values and tells every node; here they are in force when this returns. */
  async change(values: Partial<SettingValues>): Promise<void> {
    await this.#store(Object.entries(values))
  }

  /** Switches a feature on or off, in the same way. */
  async switch(flag: FlagName, on: boolean): Promise<void> {
    await this.#store([[storedName(flag), on]])
  }

  async #store(rows: readonly (readonly [name: string, value: unknown])[]): Promise<void> {
    await this.#db.transaction(async (tx) => {
      for (const [name, value] of rows) {
        await sql`
          insert into application_settings (name, value) values (${name}, ${JSON.stringify(value)})
          on conflict (name) do update set value = excluded.value, updated_at = now()`.execute(tx)
      }
      await sql`select pg_notify(${channel}, '')`.execute(tx)
    })
    await this.load()
  }

  async #refresh(): Promise<void> {
    try {
      await this.load()
    } catch (error) {
      this.#log.warn({ err: error }, 'could not read the settings; the last ones stay in force')
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
  }
}
