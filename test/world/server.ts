import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import path from 'node:path'
import { migrations } from '../../migrations/index.ts'
import { startEmbeddedPostgres } from '../../src/kernel/db/embedded/index.ts'
import { Database, migrate } from '../../src/kernel/db/index.ts'
import { createLogger } from '../../src/kernel/log/index.ts'
import { migrateTasks } from '../../src/tasks/index.ts'
import { administer, templateName, type ServerConnection } from './databases.ts'

/** The PostgreSQL of TEST_DATABASE_URL, or an embedded one in a folder that goes with the stack. */
export async function findServer(stack: AsyncDisposableStack): Promise<ServerConnection> {
  const url = process.env['TEST_DATABASE_URL']
  if (url !== undefined) {
    const { hostname, port, username, password } = new URL(url)
    return {
      host: hostname,
      port: Number(port || 5432),
      user: username,
      password: decodeURIComponent(password),
    }
  }
  const directory = await mkdtemp(path.join(await roomyMemory(), 'guildhall-tests-'))
  // PostgreSQL may run as another user, who has to pass through.
  await chmod(directory, 0o711)
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const embedded = stack.use(
    await startEmbeddedPostgres({
      directory: path.join(directory, 'postgres'),
      log: createLogger('warn'),
      maxConnections: 400,
      settings: {
        fsync: 'off',
        full_page_writes: 'off',
        synchronous_commit: 'off',
        max_wal_size: '128MB',
        // A third of the server's time goes into plans: each suite asks each thing a few times.
        plan_cache_mode: 'force_generic_plan',
      },
    }),
  )
  const { host, port, user, password } = embedded.connection
  return { host, port, user, password }
}

/**
 * Where short-lived files are made: in memory, if two gigabytes of it are free. Each suite makes and removes 1,500
 * files of a database, and a file system on disk takes its time to find numbers for them.
 */
async function roomyMemory(): Promise<string> {
  const memory = '/dev/shm'
  const room = await statfs(memory).then(
    ({ bavail, bsize }) => Math.min(bavail * bsize, freemem()),
    () => 0,
  )
  return room > 2 ** 31 ? memory : tmpdir()
}

/** The migrated database that suites copy. `beforeTasks` sees it without the tables of the task queue. */
export async function makeTemplate(
  server: ServerConnection,
  beforeTasks?: (connection: ServerConnection & { database: string }) => Promise<void>,
): Promise<void> {
  await administer(server, async (run) => {
    await run(`drop database if exists ${templateName}`)
    await run(`create database ${templateName}`)
  })
  const connection = { ...server, database: templateName }
  const db = new Database({ connection, log: createLogger('warn') })
  await migrate(db.writer, migrations)
  await db[Symbol.asyncDispose]()
  await beforeTasks?.(connection)
  await migrateTasks(connection)
}
