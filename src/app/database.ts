import path from 'node:path'
import type pg from 'pg'
import * as made from '../../bin/made.js'
import { migrations } from '../../migrations/index.ts'
import type { Config } from '../kernel/config/index.ts'
import { startEmbeddedPostgres } from '../kernel/db/embedded/index.ts'
import { Database, migrate } from '../kernel/db/index.ts'
import { makeFolders } from '../kernel/lib/make-folders.ts'
import type { Logger } from '../kernel/log/index.ts'
import { migrateTasks } from '../tasks/index.ts'

/** A database that is there and of the newest version; an embedded one stops when this is disposed of. */
export interface OpenDatabase extends AsyncDisposable {
  readonly connection: pg.ClientConfig
}

/** The connection to the configured database, or to the embedded one, which is started for it. */
export async function openDatabase(
  config: Pick<Config, 'databaseUrl' | 'dataDirectory' | 'postgresBinaries'>,
  log: Logger,
  stack: AsyncDisposableStack,
  onLaunch?: () => void,
): Promise<pg.ClientConfig> {
  if (config.databaseUrl !== undefined) {
    onLaunch?.()
    return { connectionString: config.databaseUrl }
  }
  const embedded = stack.use(
    await startEmbeddedPostgres({
      directory: path.join(config.dataDirectory, 'postgres'),
      log,
      ...(onLaunch && { onLaunch }),
      ...(made.isUpToDate(made.database) && { prepared: made.database }),
      ...(config.postgresBinaries !== undefined && { binaries: config.postgresBinaries }),
    }),
  )
  return embedded.connection
}

/** `onLaunch` is called when from now on other processes work: the service may be loaded meanwhile. */
export async function openUpToDate(
  config: Config,
  log: Logger,
  onLaunch?: () => void,
): Promise<OpenDatabase> {
  await using stack = new AsyncDisposableStack()
  await makeFolders(config.dataDirectory, 0o711)
  const connection = await openDatabase(config, log, stack, onLaunch)
  await bringUpToDate(connection, log)
  const opened = stack.move()
  return { connection, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/**
 * The names of the migrations that were to do. On a connection of its own, since one that has seen every table keeps as
 * much memory as all others together.
 */
export async function bringUpToDate(connection: pg.ClientConfig, log: Logger): Promise<string[]> {
  await using db = new Database({ connection, size: 1, log })
  const applied = await migrate(db.writer, migrations)
  await migrateTasks(connection)
  return applied
}
