import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { openDatabase } from '../app/service.ts'
import { migrations } from '../../migrations/index.ts'
import { readConfig, type Config } from '../kernel/config/index.ts'
import { Database, migrate } from '../kernel/db/index.ts'
import { createLogger } from '../kernel/log/index.ts'
import { migrateTasks } from '../tasks/index.ts'
import { explain } from './trouble.ts'

/** Opens the database for a command that works beside, or without, the service, and brings it to the newest version. */
export async function withDatabase<T>(
  work: (db: Database, config: Config, applied: readonly string[]) => Promise<T>,
): Promise<T> {
  const config = readConfig(process.env)
  const log = createLogger('warn')
  try {
    await using stack = new AsyncDisposableStack()
    await mkdir(path.join(config.dataDirectory), { recursive: true, mode: 0o711 })
    const connection = await openDatabase(config, log, stack)
    const db = stack.use(new Database({ connection, size: 2, log }))
    const applied = await migrate(db.writer, migrations)
    await migrateTasks(connection)
    return await work(db, config, applied)
  } catch (error) {
    throw explain(error, config)
  }
}
