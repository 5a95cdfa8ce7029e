import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { Masker } from './masker.ts'

const clearLine = '\x1b[0K'

export interface TraceOptions {
  file: string
  secrets: string[]
  tokenPrefixes: string[]
  /** Bytes of the job's own output that are kept. */
  limit: number
  sections: boolean
}

/** The log of one job: masked, kept in a file until the server has it. */
export class Trace implements Disposable {
  readonly #file: number
  readonly #masker: Masker
  readonly #options: TraceOptions
  #size = 0
  #checksum = 0
  #left: number
  #closed = false
  #failure: unknown
  /** Called after each piece written. */
  onWrite: () => void = () => undefined

  constructor(options: TraceOptions) {
    this.#options = options
    this.#left = options.limit
    this.#masker = new Masker(options.secrets, options.tokenPrefixes)
    this.#file = openSync(options.file, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
  }

  /** Why output was lost, as when the disk is full. */
  get failure() {
    return this.#failure
  }

  get size() {
    return this.#size
  }

  /** `crc32:` and eight hexadecimal digits, of everything written. */
  get checksum() {
    return `crc32:${this.#checksum.toString(16).padStart(8, '0')}`
  }

  /** The job's output; what passes the limit is dropped, after a notice. */
  output(chunk: Buffer) {
    if (this.#left < 0) return
    const taken = chunk.subarray(0, this.#left)
    this.#left -= chunk.length
    this.#write(taken)
    if (this.#left >= 0) return
    const notice = `Job's log exceeded limit of ${this.#options.limit} bytes.`
    this.line(
      `\n\x1b[33;1m${notice}\nJob execution will continue but no more output will be collected.\x1b[0;m`,
    )
  }

  /** A line of the runner, which is never dropped. */
  line(text: string) {
    this.#write(Buffer.from(`${text}\n`))
  }

  warn(text: string) {
    this.line(`\x1b[33;1mWARNING: ${text}\x1b[0;m`)
  }

  error(text: string) {
    this.line(`\x1b[31;1mERROR: ${text}\x1b[0;m`)
  }

  async section<T>(name: string, title: string, work: () => Promise<T>): Promise<T> {
    this.#mark('start', name)
    this.line(`${clearLine}\x1b[36;1m${title}\x1b[0;m\x1b[0;m`)
    try {
      return await work()
    } finally {
      this.settle()
      this.#mark('end', name)
    }
  }

  /** Gives out what the masker held back; at the end of a program's output, which no secret can span. */
  settle() {
    this.#append(this.#masker.flush())
  }

  /** Up to `length` bytes from `offset`. */
  read(offset: number, length: number): Buffer {
    const piece = Buffer.allocUnsafe(Math.min(length, this.#size - offset))
    return piece.subarray(0, readSync(this.#file, piece, 0, piece.length, offset))
  }

  [Symbol.dispose]() {
    if (!this.#closed) closeSync(this.#file)
    this.#closed = true
  }

  #mark(edge: 'start' | 'end', name: string) {
    if (!this.#options.sections) return
    this.#write(Buffer.from(`section_${edge}:${Math.floor(Date.now() / 1000)}:${name}\r${clearLine}`))
  }

  #write(bytes: Buffer) {
    this.#append(this.#masker.write(bytes))
  }

  #append(bytes: Buffer) {
    if (bytes.length === 0 || this.#closed || this.#failure !== undefined) return
    try {
      writeSync(this.#file, bytes, 0, bytes.length, this.#size)
    } catch (error) {
      this.#failure ??= error
      return
    }
    this.#size += bytes.length
    this.#checksum = crc32(bytes, this.#checksum)
    this.onWrite()
  }
}
