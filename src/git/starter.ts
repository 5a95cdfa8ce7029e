import { fork, type ChildProcess } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import module from 'node:module'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { finished, PassThrough, pipeline, type Readable, type Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { Output } from './output.ts'
import { streamHeader, type Order, type Report, type StreamNumber } from './starter-messages.ts'

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A program that was started, or is about to be. */
export interface Started {
  readonly stdin: Writable
  readonly stdout: Output
  readonly stderr: Readable
  /** When it is gone and its output was read. Rejects with the system's error when it could not be started. */
  readonly exit: Promise<Exit>
  kill(): void
}

interface Running {
  started(): void
  exited(exit: Exit): void
  failed(cause: Error): void
}

/**
 * Starts programs through a process of its own (`starter-process.ts`), which is started for the first of them. A start
 * from here would stop the whole service for 8 ms: a fork takes as long as the memory of whoever forks is large.
 */
export class Starter implements AsyncDisposable {
  readonly #running = new Map<number, Running>()
  #count = 0
  #process: Promise<StarterProcess> | undefined
  #opened: StarterProcess | undefined

  start(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Started {
    this.#count += 1
    const id = this.#count
    const stdin = new PassThrough()
    const output = new Output()
    const streams = [new Socket(), output.socket, new Socket()] as const
    const [input, , error] = streams
    for (const stream of streams) stream.on('error', () => undefined)
    let killed = false
    const exit = new Promise<Exit>((resolve, reject) => {
      this.#running.set(id, {
        // Until then the starter would read what is meant for the program.
        started: () => {
          if (input.destroyed || stdin.destroyed) stdin.destroy()
          else pipeline(stdin, input, () => undefined)
        },
        exited: (how) => {
          stdin.destroy()
          void Promise.all([read(output), read(error)]).then(() => {
            for (const stream of [...streams, output]) stream.destroy()
            resolve(how)
          })
        },
        failed: (cause) => {
          for (const stream of [stdin, ...streams, output]) stream.destroy()
          reject(cause)
        },
      })
    }).finally(() => {
      this.#running.delete(id)
      if (this.#running.size === 0) this.#opened?.rest()
    })
    exit.catch(() => undefined)
    const give = (starter: StarterProcess): void => {
      starter.work()
      for (const [at, stream] of streams.entries()) {
        stream.connect(starter.address)
        stream.write(streamHeader.write(id, at as StreamNumber))
      }
      starter.tell({ id, program, args, env })
      if (killed) starter.tell({ id, kill: true })
    }
    this.#open().then(give, (cause: unknown) => this.#running.get(id)?.failed(cause as Error))
    return {
      stdin,
      stdout: output,
      stderr: error,
      exit,
      kill: () => {
        killed = true
        this.#process?.then((starter) => starter.tell({ id, kill: true })).catch(() => undefined)
      },
    }
  }

  #open(): Promise<StarterProcess> {
    if (this.#process !== undefined) return this.#process
    const opening = StarterProcess.open((report) => this.#take(report))
    this.#process = opening
    const gone = (cause: Error): void => {
      if (this.#process === opening) this.#process = undefined
      for (const running of this.#running.values()) running.failed(cause)
    }
    opening.then((starter) => {
      this.#opened = starter
      return starter.ended.then(() => gone(new Error('the starter ended')))
    }, gone)
    return opening
  }

  #take(report: Report): void {
    if ('listening' in report) return
    const running = this.#running.get(report.id)
    if ('started' in report) running?.started()
    else if ('code' in report) running?.exited({ code: report.code, signal: report.signal })
    else running?.failed(Object.assign(new Error('it could not be started'), { code: report.failed }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const starter = await this.#process?.catch(() => undefined)
    await starter?.end()
  }
}

/** When a stream has been read to its end, or nobody reads it any more. */
function read(stream: Readable): Promise<void> {
  return new Promise((resolve) => finished(stream, { writable: false }, () => resolve()))
}

const file = fileURLToPath(new URL('starter-process.ts', import.meta.url))

class StarterProcess {
  readonly #child: ChildProcess
  /** Where it takes connections. */
  readonly address: string
  readonly ended: Promise<void>

  private constructor(child: ChildProcess, address: string, ended: Promise<void>) {
    this.#child = child
    this.address = address
    this.ended = ended
  }

  static async open(take: (report: Report) => void): Promise<StarterProcess> {
    // Nobody else may enter.
    const folder = await mkdtemp(path.join(tmpdir(), 'guildhall-git-'))
    const address = path.join(folder, 'starter')
    const cache = module.getCompileCacheDir()
    const child = fork(file, [address], {
      execArgv: ['--max-semi-space-size=1', '--max-old-space-size=64'],
      env: { ...(cache !== undefined && { NODE_COMPILE_CACHE: cache }) },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve())
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`the starter ended with ${code ?? 'a signal'}`)))
    })
    child.on('message', take)
    child.on('error', () => undefined)
    child.unref()
    return new StarterProcess(child, address, ended)
  }

  /** Nothing of ours runs: nobody waits for it. */
  rest(): void {
    this.#child.channel?.unref()
  }

  work(): void {
    this.#child.channel?.ref()
  }

  tell(order: Order): void {
    if (this.#child.connected) this.#child.send(order)
  }

  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    this.#child.ref()
    await this.ended
  }
}
