import pg from 'pg'
import { roleName, readPassword } from './cluster.ts'
import { chooseAccount } from './account.ts'
import type { Connection } from './database.ts'
import { admit, openFolder, port, prepareSocketFolder } from './folder.ts'

/**
 * The connection to the embedded server of this folder while another process of ours runs it; undefined when none
 * does. For commands beside a running service: they neither start nor stop the server.
 */
export async function findRunningPostgres(directory: string): Promise<Connection | undefined> {
  const found = await openFolder(directory)
  const account = await chooseAccount(found.data)
  const folder = await admit(found, account)
  const password = await readPassword(folder)
  if (password === undefined) return undefined
  const host = await prepareSocketFolder(folder, account)
  const connection = { host, port, user: roleName, password, database: roleName }
  const client = new pg.Client({ ...connection, ssl: false, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return connection
  } catch {
    return undefined
  } finally {
    await client.end().catch(() => undefined)
  }
}
