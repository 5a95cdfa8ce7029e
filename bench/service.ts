import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('../bin/guildhall', import.meta.url))

/** Milliseconds that a start or a stop may take. */
const patience = 60_000

export interface ServiceOptions {
  readonly directory: string
  /** As in the configuration; the inherited environment has no say. */
  readonly environment: Readonly<Record<string, string>>
}

/** The real program in a process of its own. */
export class Service implements AsyncDisposable {
  readonly port: number
  readonly #process: ChildProcess
  readonly #log: string
  readonly #begun = performance.now()

  /** Launches it; `port` is a free one. What it logs goes into the folder. */
  constructor(port: number, { directory, environment }: ServiceOptions) {
    this.port = port
    this.#log = path.join(directory, 'service.log')
    const log = createWriteStream(this.#log, { flags: 'a' })
    const child = spawn(process.execPath, [launcher, 'serve'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A group of its own: Ctrl-C is ours to pass on.
      detached: true,
      env: {
        PATH: process.env['PATH'],
        TZ: 'UTC',
        HOST: '127.0.0.1',
        PORT: String(port),
        DATA_DIR: path.join(directory, 'data'),
        SHUTDOWN_TIMEOUT: '5',
        ...environment,
      },
    })
    child.stdout.pipe(log, { end: false })
    child.stderr.pipe(log, { end: false })
    child.once('close', () => log.end())
    this.#process = child
  }

  /** Milliseconds from its launch until it says that it can work. Throws with the end of its log. */
  async ready(): Promise<number> {
    try {
      await this.#ready(this.#begun + patience)
      return performance.now() - this.#begun
    } catch (error) {
      const tail = (await readFile(this.#log, 'utf8')).split('\n').slice(-20).join('\n')
      throw new Error(`${(error as Error).message}:\n${tail}`, { cause: error })
    }
  }

  get pid(): number {
    return this.#process.pid!
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async #ready(deadline: number): Promise<void> {
    while (performance.now() < deadline) {
      if (this.#ended) throw new Error('the service ended instead of starting')
      const answer = await fetch(`${this.url}/-/readiness`).catch(() => undefined)
      await answer?.text()
      if (answer?.status === 200) return
      await sleep(10)
    }
    throw new Error('the service was not ready in time')
  }

  get #ended(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null
  }

  /** Milliseconds that it took to end. */
  async stop(): Promise<number> {
    const begin = performance.now()
    if (!this.#ended) {
      const ended = new Promise((resolve) => this.#process.once('exit', resolve))
      this.#process.kill('SIGTERM')
      const kill = setTimeout(() => this.#process.kill('SIGKILL'), patience)
      await ended
      clearTimeout(kill)
    }
    return performance.now() - begin
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  /** Requests that were answered and statements sent for them, of all endpoints together, since the start. */
  async counts(): Promise<{ requests: number; statements: number }> {
    const text = await (await fetch(`${this.url}/-/metrics`)).text()
    const sum = (name: string): number =>
      [...text.matchAll(new RegExp(`^${name}(?:\\{[^\\n]*\\})? (\\d+)`, 'gm'))]
        .filter(([line]) => !line.includes('endpoint="other"'))
        .reduce((total, [, value]) => total + Number(value), 0)
    return {
      requests: sum('guildhall_http_request_duration_seconds_count'),
      statements: sum('guildhall_sql_statements_total'),
    }
  }
}

/** A port that nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  const server = net.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
