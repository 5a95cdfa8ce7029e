import type { Logger } from 'pino'
import { chooseAccount } from './account.ts'
import { findBinaries, findServerOfMajor, findSources } from './binaries.ts'
import {
  claimData,
  createCluster,
  dataVersion,
  readPassword,
  refuseOtherMajor,
  resetPassword,
  roleName,
} from './cluster.ts'
import type { Connection } from './database.ts'
import { explainFileError, type EmbeddedPostgresError } from './error.ts'
import { admit, openFolder, port, prepareSocketFolder, wayToData, type Folder } from './folder.ts'
import { acquireLock, type FolderLock } from './lock.ts'
import { chooseLauncher } from './process.ts'
import { startServer, takeOver, type Server } from './server.ts'
import { serverArguments } from './settings.ts'
import { Supervisor } from './supervisor.ts'

export type { Connection } from './database.ts'
export { findRunningPostgres } from './attach.ts'
export { EmbeddedPostgresError } from './error.ts'
export { keepData } from './prepared.ts'

export interface EmbeddedPostgres extends AsyncDisposable {
  /** What `pg` needs; `host` is the folder of the socket. It stays the same when the server has to be started again. */
  readonly connection: Connection
  /** The postmaster's process id at this moment. */
  readonly pid: number
  /** Stops the server in order, by force after 40 s; may be called again. */
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  /** A folder of its own, DATA_DIR/postgres; made if it is missing. */
  directory: string
  log: Logger
  /** Server settings beyond, or instead of, the defaults in `settings.ts`. */
  settings?: Record<string, string>
  /** 50 if not given. */
  maxConnections?: number
  /** The folder of `postgres` and `initdb` to use (POSTGRES_BIN). */
  binaries?: string
  /** Data that were kept by `keepData`; new data begin as their copy, if this server can read them. */
  prepared?: string
  /** Called, maybe more than once, when from now on other processes work and this one waits. */
  onLaunch?: () => void
  /** Called when the server dies again and again, and is not started any more. */
  onGiveUp?: (error: EmbeddedPostgresError) => void
}

/**
 * Starts the PostgreSQL of this folder, making its data at the first start, and keeps it running. It listens on a Unix
 * socket only. One process at a time has the folder. Throws EmbeddedPostgresError when the machine or the folder do not
 * let it run.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const folder = await openFolder(options.directory)
  let lock: FolderLock | undefined
  try {
    lock = await acquireLock(folder)
    const server = await prepareServer(options, folder)
    const adopted = await takeOver(server)
    if (server.connection.password === '') {
      server.connection.password = await resetPassword(server)
    }
    const postmaster = adopted ?? (await startServer(server, new AbortController().signal, options.onLaunch))
    return new Supervisor(server, lock, postmaster, options.onGiveUp)
  } catch (error) {
    await lock?.release()
    throw explainFileError(error, folder.root)
  }
}

async function prepareServer(options: EmbeddedPostgresOptions, found: Folder): Promise<Server> {
  const { log } = options
  const account = await chooseAccount(found.data)
  const folder = await admit(found, account)
  const launcher = await chooseLauncher(account)
  const version = await dataVersion(folder)
  const sources = findSources(options.binaries)
  const binaries = await findBinaries(sources, folder, launcher, version)
  if (version !== undefined && version !== binaries.major) {
    refuseOtherMajor(version, binaries, folder, await findServerOfMajor(version, sources, launcher))
  }
  if (version !== undefined) await claimData(folder, account)
  else {
    const { prepared, onLaunch } = options
    const sync = options.settings?.['fsync'] !== 'off'
    await createCluster({ folder, binaries, launcher, log }, { sync, prepared, onLaunch })
  }
  const host = await prepareSocketFolder(folder, account)
  const args = serverArguments({
    data: wayToData(folder).data,
    socketFolder: host,
    maxConnections: options.maxConnections ?? 50,
    settings: options.settings ?? {},
  })
  // A lost password is set anew once no server is running.
  const password = (await readPassword(folder)) ?? ''
  const connection = { host, port, user: roleName, password, database: roleName }
  return { folder, binaries, launcher, args, connection, log }
}
