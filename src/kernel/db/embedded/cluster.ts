import { randomBytes } from 'node:crypto'
import {
  chmod,
  lchown,
  mkdir,
  mkdtemp,
  open,
  readFile,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
} from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Logger } from 'pino'
import { isRoot, type Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { EmbeddedPostgresError, errorCode } from './error.ts'
import { explainOutput } from './explain.ts'
import { giveToOwner, syncFolder, userName, wayToData, type Folder } from './folder.ts'
import { signalProcess } from './postmaster.ts'
import { copyPrepared, isReadableBy } from './prepared.ts'
import { serverProcessesIn } from './process-table.ts'
import { run, type Finished, type Launcher } from './process.ts'

/** The user, who is the cluster's superuser, and the database. */
export const roleName = 'guildhall'

const unfinishedPrefix = 'unfinished-'

/** Where a cluster lies, and the programs that work on it. */
export interface Installation {
  folder: Folder
  binaries: Binaries
  launcher: Launcher
  log: Logger
}

/** The major version of the data, undefined where there is none yet; refuses a folder with something else in it. */
export async function dataVersion(folder: Folder): Promise<string | undefined> {
  try {
    return (await readFile(join(folder.data, 'PG_VERSION'), 'utf8')).trim()
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
  const entries = await readdir(folder.data).catch(() => [])
  if (entries.length === 0) return undefined
  throw new EmbeddedPostgresError(
    `${folder.data} holds something that is not a PostgreSQL database (no PG_VERSION): move it away and start again.`,
  )
}

/** Data of another major version cannot be read; `other` is a server on this machine that could, if there is one. */
export function refuseOtherMajor(
  version: string,
  binaries: Binaries,
  folder: Folder,
  other: string | undefined,
): never {
  throw new EmbeddedPostgresError(
    `The data in ${folder.data} was written by PostgreSQL ${version}, but this is PostgreSQL ${binaries.major}: ` +
      (other === undefined
        ? `start with a PostgreSQL ${version} (set POSTGRES_BIN to the folder of its "postgres")`
        : `start with PostgreSQL ${version} (POSTGRES_BIN=${other})`) +
      `, export the data, and import it into a new DATA_DIR with PostgreSQL ${binaries.major}.`,
  )
}

/** What makes new data another's. */
export interface NewData {
  /** False for tests, whose data need not survive the machine. */
  sync: boolean
  /** Data that were kept by `keepData`, to begin with their copy. */
  prepared?: string | undefined
  /** Called when a process has begun to make them. */
  onLaunch?: (() => void) | undefined
}

/**
 * Makes the data directory: in a folder of another name, which takes its place when all is written and synced. So a
 * data directory is a finished one, and what a crash leaves behind can be deleted without a second look.
 */
export async function createCluster(
  installation: Installation,
  { sync, prepared, onLaunch }: NewData,
): Promise<void> {
  const { folder, binaries, launcher, log } = installation
  await removeUnfinished(folder)
  log.info(`Creating the embedded database (PostgreSQL ${binaries.version}) in ${folder.root}`)
  const { account } = launcher
  const unfinished = await mkdtemp(join(folder.root, unfinishedPrefix))
  const end = async (program: Promise<Finished>): Promise<void> => {
    onLaunch?.()
    const { code, output } = await program
    if (code !== 0)
      throw await explainOutput('The embedded database could not be created', output, folder, launcher)
  }
  try {
    const data = join(unfinished, 'data')
    const passwordFile = join(unfinished, 'password')
    const way = wayToData(folder, data)
    const initdb = (...args: string[]) =>
      end(run(launcher, join(binaries.bin, 'initdb'), ['-D', way.data, ...args], { cwd: way.cwd }))
    const password = await ensurePassword(folder)
    await mkdir(data, { mode: 0o700 })
    await writeDurably(passwordFile, password)
    if (account !== undefined) {
      await chmod(unfinished, 0o711)
      for (const path of [data, passwordFile]) await lchown(path, account.uid, account.gid)
    }
    if (prepared !== undefined && (await isReadableBy(binaries, prepared))) {
      await end(copyPrepared(prepared, data, launcher))
      await setPassword(data, password, installation)
      if (sync) await initdb('--sync-only')
    } else {
      await initdb(
        ...['-U', roleName, `--pwfile=${relative(way.cwd, passwordFile)}`],
        ...['--locale=C', '-E', 'UTF8', '--data-checksums', '--no-instructions'],
        ...['--auth-local=scram-sha-256', '--auth-host=scram-sha-256'],
        ...(sync ? [] : ['--no-sync']),
      )
    }
    // What is there is an empty folder; a mount point, which cannot be replaced, is refused with a clear line.
    await rmdir(folder.data).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error
    })
    await rename(data, folder.data)
    await syncFolder(folder.root)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

async function removeUnfinished(folder: Folder): Promise<void> {
  for (const name of await readdir(folder.root)) {
    if (!name.startsWith(unfinishedPrefix)) continue
    const path = join(folder.root, name)
    // initdb dies with its starter, but not the server that it has started to fill the data.
    for (const pid of serverProcessesIn(join(path, 'data'))) signalProcess(pid, 'SIGKILL')
    await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
  }
}

/** PostgreSQL wants its data to be its user's, and closed to others; backups and volumes forget both. */
export async function claimData(folder: Folder, account: Account | undefined): Promise<void> {
  const { uid, mode } = await stat(folder.data)
  if (account !== undefined && uid !== account.uid) await giveAll(folder.data, account)
  if (account === undefined && !isRoot() && uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      `${folder.data} belongs to user ${uid}, but Guildhall runs as ${userName()}: ` +
        `start it as that user, or give it the folder (chown -R ${userName()} ${folder.root}).`,
    )
  }
  if ((mode & 0o027) !== 0) await chmod(folder.data, 0o700)
}

async function giveAll(path: string, account: Account): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await giveAll(child, account)
    else await lchown(child, account.uid, account.gid)
  }
  // Last, so that an interrupted run is noticed and done again: the owner of the top is what is looked at.
  await lchown(path, account.uid, account.gid)
}

export async function readPassword(folder: Folder): Promise<string | undefined> {
  const text = await readFile(folder.password, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return ''
    throw error
  })
  return text.trim() || undefined
}

/** Written before there is data, and kept, so that no crash can part the two. */
async function ensurePassword(folder: Folder): Promise<string> {
  const known = await readPassword(folder)
  if (known !== undefined) return known
  const password = randomBytes(24).toString('base64url')
  await writePassword(folder, password)
  return password
}

async function writePassword(folder: Folder, password: string): Promise<void> {
  const unfinished = `${folder.password}.new`
  await rm(unfinished, { force: true })
  await writeDurably(unfinished, password)
  await giveToOwner(folder, unfinished)
  await rename(unfinished, folder.password)
  await syncFolder(folder.root)
}

/** `wx`: never through a link that somebody has put there. */
async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** A new password for a cluster whose password file is lost: a backup may leave such files out. */
export async function resetPassword(installation: Installation): Promise<string> {
  const { folder, log } = installation
  const password = randomBytes(24).toString('base64url')
  await setPassword(folder.data, password, installation)
  await writePassword(folder, password)
  log.warn(`The password file of the embedded database was missing: a new password is in ${folder.password}`)
  return password
}

/** Through a single-user server, which asks for no password; so no other server may be running on the data. */
async function setPassword(
  data: string,
  password: string,
  { folder, binaries, launcher }: Installation,
): Promise<void> {
  const way = wayToData(folder, data)
  const { code, output } = await run(
    launcher,
    join(binaries.bin, 'postgres'),
    // Single-user PostgreSQL goes on after an error, and ends well: let an error end it.
    ['--single', '-j', '-c', 'exit_on_error=on', '-D', way.data, 'postgres'],
    { cwd: way.cwd, input: `ALTER ROLE ${roleName} PASSWORD '${password}';\n\n` },
  )
  if (code !== 0)
    throw await explainOutput('The database password could not be set', output, folder, launcher)
}
