import { realpath } from 'node:fs/promises'
import { Client, DatabaseError } from 'pg'
import { EmbeddedPostgresError } from './error.ts'
import { wayToData, type Folder } from './folder.ts'

/** What `pg` needs to reach the server: `host` is the folder of its socket. */
export interface Connection {
  host: string
  port: number
  user: string
  password: string
  database: string
}

const noSuchDatabase = '3D000'

async function withClient<T>(connection: Connection, use: (client: Client) => Promise<T>): Promise<T> {
  // Said, because PGSSLMODE may ask for encryption, which a Unix socket does not have.
  const client = new Client({ ...connection, ssl: false, connectionTimeoutMillis: 10_000 })
  // A server that dies says so here; without a listener that would end our process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await use(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

function stateOf(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined
}

/** Makes sure that the database exists and lets us in. */
export async function prepareDatabase(connection: Connection, passwordFile: string): Promise<void> {
  try {
    await withClient(connection, async () => undefined)
  } catch (error) {
    if (stateOf(error)?.startsWith('28') === true) {
      throw new EmbeddedPostgresError(
        `The embedded database does not accept the password in ${passwordFile}: ` +
          'delete that file and start again, then a new password is set.',
        { cause: error },
      )
    }
    if (stateOf(error) !== noSuchDatabase) throw error
    await withClient({ ...connection, database: 'postgres' }, (client) =>
      client.query(`CREATE DATABASE ${connection.database}`),
    )
  }
}

/**
 * Whether behind this socket is a server of this version on this folder's data. If so, what a killed process left at
 * work in it is ended: its locks and half-done transactions must not live on beside us.
 */
export async function takeServer(connection: Connection, folder: Folder, version: string): Promise<boolean> {
  try {
    return await withClient(connection, async (client) => {
      const { rows } = await client.query<{ data: string; version: string }>(
        `SELECT current_setting('data_directory') AS data, current_setting('server_version') AS version`,
      )
      const [found] = rows
      if (found === undefined) return false
      if (found.data !== wayToData(folder).data && (await realpath(found.data)) !== folder.data) return false
      if (found.version.split(' ')[0] !== version) return false
      await client.query(
        `SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a
          WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid()`,
      )
      return true
    })
  } catch {
    return false
  }
}
