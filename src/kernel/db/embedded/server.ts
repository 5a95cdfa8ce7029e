import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Installation } from './cluster.ts'
import { prepareDatabase, takeServer, type Connection } from './database.ts'
import { EmbeddedPostgresError } from './error.ts'
import { explainOutput } from './explain.ts'
import { port, wayToData, type Folder } from './folder.ts'
import { pidFilePath, readPidFile } from './pid-file.ts'
import {
  foundPostmaster,
  ownPostmaster,
  signalProcess,
  stopPostmaster,
  waitUntil,
  type Postmaster,
} from './postmaster.ts'
import { isPostmasterOf, serverProcessesIn } from './process-table.ts'
import { start } from './process.ts'
import { ServerLog } from './server-log.ts'

/** One server, running or not: everything that does not change from one start to the next. */
export interface Server extends Installation {
  args: string[]
  connection: Connection
}

/**
 * A server that a killed process has left running on our data: adopted when it is just what we would start ourselves,
 * else stopped. The folder's lock, which we hold, says that nobody alive owns it.
 */
export async function takeOver(server: Server): Promise<Postmaster | undefined> {
  const { folder, connection, binaries, log } = server
  const file = await readPidFile(folder.data)
  // The number may by now be another program's.
  if (file !== undefined && isPostmasterOf(file.pid, folder.data)) {
    const postmaster = foundPostmaster(file.pid)
    const usable = file.status === 'ready' && (await runsWith(server.args, folder))
    if (usable && (await takeServer(connection, folder, binaries.version))) {
      log.info(`Going on with the PostgreSQL (process ${file.pid}) that an earlier process has left`)
      return postmaster
    }
    log.info(`Stopping the PostgreSQL (process ${file.pid}) that an earlier process has left`)
    await stopPostmaster(postmaster, log)
  }
  await clearRemains(server)
  return undefined
}

/** PostgreSQL notes its command line beside its data. */
async function runsWith(args: string[], folder: Folder): Promise<boolean> {
  const noted = await readFile(join(folder.data, 'postmaster.opts'), 'utf8').catch(() => '')
  return noted.trimEnd().endsWith(args.map((arg) => ` "${arg}"`).join(''))
}

/** There is no postmaster: ends what it has left, processes and files, that would stop the next one from starting. */
export async function clearRemains({ folder, connection, log }: Server): Promise<void> {
  // A server process that is busy with a query goes on without its postmaster, and on the same data.
  const processes = () => serverProcessesIn(folder.data)
  const steps: [NodeJS.Signals | undefined, number][] = [
    [undefined, 500],
    ['SIGINT', 2000],
    ['SIGQUIT', 2000],
    ['SIGKILL', 2000],
  ]
  for (const [signal, wait] of steps) {
    const left = processes()
    if (left.length === 0) break
    if (signal !== undefined) {
      log.warn(`Sending ${signal} to processes of a dead PostgreSQL: ${left.join(', ')}`)
      for (const pid of left) signalProcess(pid, signal)
    }
    await waitUntil(() => processes().length === 0, wait)
  }
  // The socket's folder is ours alone, so what lies there without a server is dead.
  await rm(join(connection.host, `.s.PGSQL.${port}.lock`), { force: true })
  // An empty pid file (full disk, power cut) says nothing, but PostgreSQL does not start over it.
  const file = await readPidFile(folder.data)
  if (file !== undefined && Number.isNaN(file.pid)) await rm(pidFilePath(folder.data), { force: true })
}

/** Starts a postmaster and waits until it answers; when that fails or is aborted, it is gone again. */
export async function startServer(
  server: Server,
  abort: AbortSignal,
  onLaunch?: () => void,
): Promise<Postmaster> {
  const { folder, binaries, launcher, connection, log } = server
  // A process id in the pid file that is alive would make PostgreSQL give up, though takeOver() knows that it is another
  // program's by now. This is how PostgreSQL is told to overlook one id, its own check of the shared memory staying on.
  const stale = await readPidFile(folder.data)
  const child = start(launcher, join(binaries.bin, 'postgres'), server.args, {
    deathSignal: 'INT',
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: wayToData(folder).cwd,
    env: stale === undefined ? {} : { PG_GRANDPARENT_PID: String(stale.pid) },
  })
  onLaunch?.()
  const postmaster = ownPostmaster(child)
  const serverLog = new ServerLog(log)
  const logEnd = child.stderr === null ? undefined : serverLog.follow(child.stderr)
  const end = () => signalProcess(postmaster.pid, 'SIGINT')
  process.once('exit', end)
  try {
    await waitUntilReady(server, postmaster, abort)
    await prepareDatabase(connection, folder.password)
    return postmaster
  } catch (error) {
    const died = postmaster.isGone()
    await stopPostmaster(postmaster, log)
    if (error instanceof EmbeddedPostgresError || !died) throw error
    // Its last words may still be on their way.
    await Promise.race([logEnd, sleep(200)])
    const words = serverLog.lastWords() || (await postmaster.gone)
    throw await explainOutput('The embedded database does not start', words, folder, launcher)
  } finally {
    process.off('exit', end)
  }
}

const startLimit = 15 * 60_000
const startNotice = 10_000

/** After a crash the server first recovers, which may take minutes: that is no failure as long as it lives. */
async function waitUntilReady(server: Server, postmaster: Postmaster, abort: AbortSignal): Promise<void> {
  const begin = performance.now()
  let notices = 0
  for (;;) {
    abort.throwIfAborted()
    if (postmaster.isGone()) throw new Error('PostgreSQL ended while it started')
    const file = await readPidFile(server.folder.data)
    // The file of an earlier server may still be there, and say «ready» too.
    if (file?.pid === postmaster.pid && file.status === 'ready') return
    const waited = performance.now() - begin
    if (waited > startLimit) {
      throw new EmbeddedPostgresError(
        `The embedded database in ${server.folder.root} was not ready after ${startLimit / 60_000} minutes: ` +
          'see its messages in the log, and start again.',
      )
    }
    if (waited > (notices + 1) * startNotice) {
      notices += 1
      server.log.info(
        `PostgreSQL is still starting, after ${Math.round(waited / 1000)} s (it may be recovering)`,
      )
    }
    await sleep(waited < 1000 ? 5 : 50)
  }
}
