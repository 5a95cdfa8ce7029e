import type { TestProject } from 'vitest/node'
import type { ServerConnection } from './databases.ts'
import { findServer, makeTemplate } from './server.ts'

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
  await makeTemplate(server)
  project.provide('postgres', server)
  return () => stack.disposeAsync()
}
