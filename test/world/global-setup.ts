import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrations } from '../../migrations/index.ts'
import { startEmbeddedPostgres } from '../../src/kernel/db/embedded/index.ts'
import { Database, migrate } from '../../src/kernel/db/index.ts'
import { createLogger } from '../../src/kernel/log/index.ts'
import { migrateTasks } from '../../src/tasks/index.ts'
import { administer, templateName, type ServerConnection } from './databases.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgres: ServerConnection
  }
}

/**
 * One PostgreSQL for all suites: the embedded one, or TEST_DATABASE_URL. A template database is migrated once; each
 * suite that starts the service copies it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  process.env['TZ'] = 'UTC'
  const stack = new AsyncDisposableStack()
  const server = await findServer(stack)
  await administer(server, async (run) => {
    await run(`drop database if exists ${templateName}`)
    await run(`create database ${templateName}`)
  })
  const connection = { ...server, database: templateName }
  const db = new Database({ connection, log: createLogger('warn') })
  await migrate(db.writer, migrations)
  await db[Symbol.asyncDispose]()
  await migrateTasks(connection)
  project.provide('postgres', server)
  return () => stack.disposeAsync()
}

async function findServer(stack: AsyncDisposableStack): Promise<ServerConnection> {
  const url = process.env['TEST_DATABASE_URL']
  if (url !== undefined) {
    const { hostname, port, username, password } = new URL(url)
    return { host: hostname, port: Number(port || 5432), user: username, password: decodeURIComponent(password) }
  }
  const directory = await mkdtemp(path.join(tmpdir(), 'guildhall-tests-'))
  // PostgreSQL may run as another user, who has to pass through.
  await chmod(directory, 0o711)
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const embedded = stack.use(
    await startEmbeddedPostgres({
      directory: path.join(directory, 'postgres'),
      log: createLogger('warn'),
      maxConnections: 400,
      settings: { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' },
    }),
  )
  const { host, port, user, password } = embedded.connection
  return { host, port, user, password }
}
