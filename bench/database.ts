import path from 'node:path'
import pg from 'pg'
import { findRunningPostgres, type Connection } from '../src/kernel/db/embedded/index.ts'

/** What `pg` needs. */
export type DatabaseAddress = Connection & { readonly ssl: false }

/** The embedded database of the service that runs with this folder. */
export async function databaseOf(directory: string): Promise<DatabaseAddress> {
  const connection = await findRunningPostgres(path.join(directory, 'data', 'postgres'))
  if (connection === undefined) throw new Error('the embedded database was not found')
  return { ...connection, ssl: false }
}

/** A connection to it. */
export async function connectTo(directory: string): Promise<pg.Client> {
  const client = new pg.Client(await databaseOf(directory))
  // At the end the server stops before we leave.
  client.on('error', () => undefined)
  await client.connect()
  return client
}
