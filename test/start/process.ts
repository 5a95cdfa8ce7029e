import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'

const program = path.resolve(import.meta.dirname, '../../bin/guildhall')

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
}

/** The program as a user starts it: a process of its own, with nothing but the environment given here. */
export class Program implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly ended: Promise<Ended>
  output = ''

  /** `input`: what it is given on standard input. */
  constructor(
    args: readonly string[],
    environment: NodeJS.ProcessEnv,
    user?: { uid: number; gid: number },
    input = '',
  ) {
    this.#child = spawn(program, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], HOME: '/', ...environment },
      ...user,
    })
    // It may end without having read it.
    this.#child.stdin.on('error', () => undefined).end(input)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        this.output += chunk.toString()
      })
    }
    this.ended = new Promise((resolve) => {
      this.#child.on('close', (code, signal) => resolve({ code, signal, output: this.output }))
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /**
   * Waits until the service answers: minutes, for a first start syncs a new database to a disk that other suites write
   * to. Fails with what it printed when it ends before.
   */
  async ready(url: string): Promise<void> {
    let ended: Ended | undefined
    void this.ended.then((result) => {
      ended = result
    })
    const deadline = Date.now() + 180_000
    while (Date.now() < deadline) {
      if (ended !== undefined) throw new Error(`it ended: ${JSON.stringify(ended)}`)
      const answer = await fetch(`${url}/-/readiness`).catch(() => undefined)
      if (answer?.status === 200) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`it did not become ready:\n${this.output}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill('SIGTERM')
    await this.ended
  }
}

/** A folder that other users can pass through, as the database's user has to; removed at the end. */
export async function temporaryFolder(owner?: {
  uid: number
  gid: number
}): Promise<AsyncDisposable & { path: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-start-'))
  await chmod(folder, 0o711)
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid)
  return {
    path: folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** A port that something else listens on. */
export async function occupied(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
