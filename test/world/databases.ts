import { randomBytes } from 'node:crypto'
import pg from 'pg'

/** The PostgreSQL server of this test run. */
export interface ServerConnection {
  host: string
  port: number
  user: string
  password: string
}

export const templateName = 'guildhall_template'

/** Runs statements as the server's administrator. */
export async function administer(
  server: ServerConnection,
  work: (run: (statement: string) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ ...server, database: 'postgres' })
  await client.connect()
  try {
    await work((statement) => client.query(statement))
  } finally {
    await client.end()
  }
}

/** A copy of the migrated template, dropped with the suite. */
export async function copyDatabase(
  server: ServerConnection,
): Promise<AsyncDisposable & { url: string; name: string }> {
  const name = `suite_${randomBytes(6).toString('hex')}`
  // Copies of one template exclude one another; whoever comes second tries again.
  for (let attempt = 1; ; attempt += 1) {
    try {
      await administer(server, async (run) => {
        // Whole files: a third of the time that copying page by page through the log takes.
        await run(`create database ${name} template ${templateName} strategy file_copy`)
      })
      break
    } catch (error) {
      if (attempt === 50 || (error as { code?: string }).code !== '55006') throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  const { user, password, host, port } = server
  const login = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  return {
    name,
    url: `postgresql://${login}@${encodeURIComponent(host)}:${port}/${name}`,
    [Symbol.asyncDispose]: () =>
      administer(server, async (run) => {
        await run(`drop database if exists ${name} with (force)`)
      }),
  }
}
