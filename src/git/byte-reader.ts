import type { Readable } from 'node:stream'
import { GitError } from './git-error.ts'
import { pktLength, pktMark, type Pkt } from './pkt-line.ts'

/** Reads a stream piece by piece; never holds more than what was asked for and one chunk. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #buffer: Buffer = Buffer.alloc(0)
  #ended = false

  constructor(stream: Readable) {
    // `destroyOnReturn: false`: who gave us the stream also ends it.
    this.#chunks = stream.iterator({ destroyOnReturn: false })
  }

  /** Exactly `size` bytes, fewer at the end of the stream. */
  async read(size: number): Promise<Buffer> {
    while (this.#buffer.length < size && (await this.#more()));
    const data = this.#buffer.subarray(0, size)
    this.#buffer = this.#buffer.subarray(data.length)
    return data
  }

  /** The next line of the protocol; `undefined` at the end of the stream. */
  async pkt(): Promise<Pkt | undefined> {
    const head = await this.read(4)
    if (head.length === 0) return undefined
    if (head.length < 4) throw new GitError('protocol', 'the remote end hung up unexpectedly')
    const length = pktLength(head)
    const mark = pktMark(length)
    if (mark !== undefined) return mark
    const data = await this.read(length - 4)
    if (data.length < length - 4) throw new GitError('protocol', 'the remote end hung up unexpectedly')
    // A copy, since the chunk may be large.
    return Buffer.from(data)
  }

  /** What is left, as it comes. */
  async *rest(): AsyncGenerator<Buffer, void, undefined> {
    do {
      const data = this.#buffer
      this.#buffer = Buffer.alloc(0)
      if (data.length > 0) yield data
    } while (await this.#more())
  }

  async #more(): Promise<boolean> {
    if (this.#ended) return false
    const next = await this.#chunks.next().catch((cause: unknown) => {
      this.#ended = true
      throw new GitError('protocol', 'the remote end hung up unexpectedly', { cause })
    })
    if (next.done === true) {
      this.#ended = true
      return false
    }
    this.#buffer = this.#buffer.length === 0 ? next.value : Buffer.concat([this.#buffer, next.value])
    return true
  }
}
