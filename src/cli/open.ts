import path from 'node:path'
import { bringUpToDate, openDatabase } from '../app/database.ts'
import type pg from 'pg'
import { secretKey } from '../app/secret-key.ts'
import { readConfig, type Config, type Plan } from '../kernel/config/index.ts'
import { findRunningPostgres } from '../kernel/db/embedded/index.ts'
import { Database, Notifications } from '../kernel/db/index.ts'
import { makeFolders } from '../kernel/lib/make-folders.ts'
import { Cipher } from '../kernel/lib/secrets.ts'
import { createLogger, type Logger } from '../kernel/log/index.ts'
import { Settings } from '../settings/index.ts'
import { explain } from './trouble.ts'

/** What a command works with. */
export interface Opened {
  readonly db: Database
  readonly config: Config
  readonly connection: pg.ClientConfig
  readonly log: Logger
  /** Names of the migrations that were to do. */
  readonly applied: readonly string[]
}

/**
 * Opens the database for one command, brings it to the newest version and closes it again. The embedded one is joined
 * where the service runs it, and started for the time of the command where not.
 */
export async function withDatabase<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
  const config = readConfig(process.env)
  const log = createLogger('warn')
  try {
    await using stack = new AsyncDisposableStack()
    await makeFolders(config.dataDirectory, 0o711)
    const running =
      config.databaseUrl === undefined
        ? await findRunningPostgres(path.join(config.dataDirectory, 'postgres'))
        : undefined
    const connection = running ?? (await openDatabase(config, log, stack))
    const applied = await bringUpToDate(connection, log)
    const db = stack.use(new Database({ connection, size: 2, log }))
    return await work({ db, config, connection, log, applied })
  } catch (error) {
    throw explain(error, config)
  }
}

/** The same for what the rules of the instance bind as they do in the API. */
export function withSettings<T>(
  work: (services: { db: Database; settings: Settings; plan: Plan }) => Promise<T>,
): Promise<T> {
  return withDatabase(async ({ db, config, connection, log }) => {
    const { plan } = config
    const cipher = new Cipher(await secretKey(config.secretKey, config.dataDirectory))
    const notifications = new Notifications(connection, log)
    await using settings = new Settings({ db, notifications, cipher, plan, signInSources: [], log })
    await settings.load()
    return await work({ db, settings, plan })
  })
}
