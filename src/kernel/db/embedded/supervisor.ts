import { rmdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from './database.ts'
import { EmbeddedPostgresError } from './error.ts'
import type { FolderLock } from './lock.ts'
import { signalProcess, stopPostmaster, type Postmaster } from './postmaster.ts'
import { clearRemains, startServer, takeOver, type Server } from './server.ts'

/** More deaths than this within the time (milliseconds), and it is given up. */
const deathLimit = 5
const deathWindow = 60_000
/** Milliseconds before the first new start; each further one waits twice as long. */
const firstPause = 100

/** Keeps one server running until it is told to stop. */
export class Supervisor implements AsyncDisposable {
  readonly #server: Server
  readonly #lock: FolderLock
  readonly #onGiveUp: ((error: EmbeddedPostgresError) => void) | undefined
  readonly #stopping = new AbortController()
  #postmaster: Postmaster
  #watch: Promise<void> = Promise.resolve()
  #stopped: Promise<void> | undefined

  constructor(
    server: Server,
    lock: FolderLock,
    postmaster: Postmaster,
    onGiveUp?: (error: EmbeddedPostgresError) => void,
  ) {
    this.#server = server
    this.#lock = lock
    this.#postmaster = postmaster
    this.#onGiveUp = onGiveUp
    process.on('exit', this.#endWithProcess)
    this.#watch = this.#keepRunning()
  }

  get connection(): Connection {
    return this.#server.connection
  }

  get pid(): number {
    return this.#postmaster.pid
  }

  /** For an end without stop(), where the kernel does not do the same for us. */
  readonly #endWithProcess = () => {
    if (!this.#postmaster.isGone()) signalProcess(this.#postmaster.pid, 'SIGINT')
  }

  async #keepRunning(): Promise<void> {
    const { log } = this.#server
    const abort = this.#stopping.signal
    const isStopping = () => abort.aborted
    let deaths: number[] = []
    let reason = await this.#postmaster.gone
    while (!isStopping()) {
      const now = performance.now()
      deaths = [...deaths.filter((time) => now - time < deathWindow), now]
      if (deaths.length > deathLimit) {
        this.#giveUp(reason)
        return
      }
      log.error(`PostgreSQL has ended unexpectedly (${reason}): starting it again`)
      try {
        await sleep(firstPause * 2 ** (deaths.length - 1), undefined, { signal: abort })
        this.#postmaster = (await takeOver(this.#server)) ?? (await startServer(this.#server, abort))
        // stop() waits for us, and stops this one when we are done.
        if (isStopping()) return
        log.info(`PostgreSQL runs again (process ${this.#postmaster.pid})`)
        reason = await this.#postmaster.gone
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error)
      }
    }
  }

  #giveUp(reason: string): void {
    const error = new EmbeddedPostgresError(
      `PostgreSQL has ended ${deathLimit + 1} times within ${deathWindow / 1000} s and is given up: ` +
        `mend the cause and start Guildhall again. The last time: ${reason}`,
    )
    this.#server.log.fatal(error.message)
    this.#onGiveUp?.(error)
  }

  /** Stops the server and frees the folder. A second call waits for the same end. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    const { connection, folder, log } = this.#server
    this.#stopping.abort()
    try {
      // A start that is under way ends itself; the server of this moment is stopped beside it.
      await stopPostmaster(this.#postmaster, log)
      await this.#watch
      await stopPostmaster(this.#postmaster, log)
      await clearRemains(this.#server)
      // A folder in the common temporary folder is not left lying there.
      if (!connection.host.startsWith(folder.root)) await rmdir(connection.host).catch(() => undefined)
    } finally {
      process.off('exit', this.#endWithProcess)
      await this.#lock.release()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
