import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, fchownSync, openSync, unlinkSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import net from 'node:net'
import path from 'node:path'
import type { JobUser } from './job-user.ts'

export interface OutputPipe {
  reader: net.Socket
  /** For the child's standard output and error; to be closed here once the child has it. */
  writer: number
}

/**
 * Real pipes for the output of jobs. What `spawn` makes for `'pipe'` is a socket, which `/dev/stdout` and
 * `tee /dev/stderr` cannot open; and with one pipe for both streams their order is kept. Named pipes are made ahead,
 * several by one call, and lose their name when taken.
 */
export class OutputPipes {
  readonly #folder: string
  #made: string[] = []
  #making: Promise<void> | undefined
  #count = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  async prepare() {
    this.#making ??= this.#make().finally(() => (this.#making = undefined))
    await this.#making
  }

  /** Resolves when nothing is being made any more. */
  async settle() {
    await this.#making?.catch(() => undefined)
  }

  /** The job's user owns the pipe, as opening `/dev/stdout` asks for its mode. */
  async take(user: JobUser | undefined): Promise<OutputPipe> {
    if (this.#made.length === 0) await this.prepare()
    const name = this.#made.pop()
    if (name === undefined) throw new Error('no pipe for the output of the job could be made')
    if (this.#made.length < 4) this.prepare().catch(() => undefined)
    const source = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK)
    const writer = openSync(name, constants.O_WRONLY)
    if (user !== undefined) fchownSync(writer, user.uid, user.gid)
    unlinkSync(name)
    return { reader: new net.Socket({ fd: source, readable: true, writable: false }), writer }
  }

  async #make() {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const names = Array.from({ length: 16 }, () => path.join(this.#folder, `${process.pid}-${++this.#count}`))
    const child = spawn('mkfifo', ['-m', '600', ...names], { stdio: 'ignore' })
    await once(child, 'exit')
    this.#made.push(...names)
  }
}

export function discard(pipe: OutputPipe) {
  closeSync(pipe.writer)
  pipe.reader.destroy()
}
