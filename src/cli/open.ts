import path from 'node:path'
import { bringUpToDate, openDatabase } from '../app/database.ts'
import { readConfig, type Config } from '../kernel/config/index.ts'
import { findRunningPostgres } from '../kernel/db/embedded/index.ts'
import { Database } from '../kernel/db/index.ts'
import { makeFolders } from '../kernel/lib/make-folders.ts'
import { createLogger } from '../kernel/log/index.ts'
import { explain } from './trouble.ts'

/**
 * Opens the database for one command, brings it to the newest version and closes it again. The embedded one is joined
 * where the service runs it, and started for the time of the command where not.
 */
export async function withDatabase<T>(
  work: (db: Database, config: Config, applied: readonly string[]) => Promise<T>,
): Promise<T> {
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
    return await work(db, config, applied)
  } catch (error) {
    throw explain(error, config)
  }
}
