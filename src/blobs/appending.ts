import type { FileHandle } from 'node:fs/promises'

/** Bytes that are held while a write is under way. */
const held = 4 * 1024 * 1024
/** Bytes after which the disk is asked to begin, so that little is left to wait for in the end. */
const flushEvery = 32 * 1024 * 1024

/**
 * Writes to the end of a file, in as few writes as the speed of both sides allows: what comes while one is under way
 * goes with the next. Disposing of it writes what is left and closes the file, also after a failure of who feeds it.
 */
export class Appending implements AsyncDisposable {
  readonly #file: FileHandle
  #size: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #writing: Promise<void> | undefined
  #failure: { readonly error: unknown } | undefined
  #unflushed = 0
  #flushing: Promise<void> | undefined

  constructor(file: FileHandle, at: number) {
    this.#file = file
    this.#size = at
  }

  /** Takes bytes, with the memory that they are in, and waits when too many are held. */
  async write(chunk: Buffer): Promise<void> {
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    this.#writing ??= this.#drain()
    if (this.#waitingBytes >= held) await this.#writing
    this.#check()
  }

  /** Waits for all that was taken; answers the size of the file. */
  async end(): Promise<number> {
    await this.#writing
    await this.#flushing
    this.#check()
    return this.#size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#writing
    await this.#flushing
    await this.#file.close()
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }

  /** Never fails, so that nobody need wait for it at once; what went wrong is told with the next call. */
  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const chunks = this.#waiting
        const bytes = this.#waitingBytes
        this.#waiting = []
        this.#waitingBytes = 0
        await this.#writeAll(chunks, bytes, this.#size)
        for (const chunk of chunks) release(chunk)
        this.#size += bytes
        this.#flush(bytes)
      }
    } catch (error) {
      this.#failure = { error }
    } finally {
      this.#writing = undefined
    }
  }

  /** A disk that is full takes a part, and fails with the next write. */
  async #writeAll(chunks: Buffer[], bytes: number, position: number): Promise<void> {
    const { bytesWritten } = await this.#file.writev(chunks, position)
    if (bytesWritten === bytes) return
    const rest = Buffer.concat(chunks).subarray(bytesWritten)
    await this.#writeAll([rest], rest.length, position + bytesWritten)
  }

  #flush(bytes: number): void {
    this.#unflushed += bytes
    if (this.#unflushed < flushEvery || this.#flushing !== undefined) return
    this.#unflushed = 0
    this.#flushing = this.#file
      .datasync()
      // A failure is told once: whoever asks later hears that all is well.
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        this.#flushing = undefined
      })
  }
}

/**
 * Gives the memory of a chunk back. Left to the garbage collector, each 64 MiB that went by would cost a collection of
 * the whole heap, which is much more than writing them does.
 */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
