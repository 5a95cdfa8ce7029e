import { open, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { ByteRange } from './content.ts'

/** Fewer reads than with the usual 64 KiB: a disk and a socket do better so. */
const readSize = 256 * 1024

/**
 * A file, or a part of it. Piped into an answer it goes through the same two buffers from beginning to end: with new
 * ones for each read the garbage collector, which goes through the whole heap every 64 MiB, costs more than the reads.
 */
export class FileStream extends Readable {
  readonly #path: string
  readonly #end: number
  #at: number
  #file: FileHandle | undefined
  #opened: Promise<FileHandle> | undefined

  constructor(path: string, range?: ByteRange) {
    super({ highWaterMark: readSize })
    this.#path = path
    this.#at = range?.start ?? 0
    this.#end = range?.end ?? Infinity
  }

  override _read(): void {
    const buffer = Buffer.allocUnsafeSlow(readSize)
    this.#fill(buffer).then(
      (length) => this.push(length === 0 ? null : buffer.subarray(0, length)),
      (error: unknown) => void this.destroy(error as Error),
    )
  }

  /** Each buffer is read into again once what was in it has been written. */
  override pipe<T extends NodeJS.WritableStream>(destination: T, { end = true }: { end?: boolean } = {}): T {
    this.#pour(destination).then(
      () => {
        // Nobody reads us: this is how we come to our end.
        this.push(null)
        this.resume()
        if (end) destination.end()
      },
      (error: unknown) => void this.destroy(error as Error),
    )
    return destination
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const closed = async (): Promise<void> => {
      await this.#opened?.catch(() => undefined)
      await this.#file?.close()
    }
    closed().then(
      () => callback(error),
      (failure: unknown) => callback(error ?? (failure as Error)),
    )
  }

  async #pour(destination: NodeJS.WritableStream): Promise<void> {
    const buffers = [Buffer.allocUnsafeSlow(readSize), Buffer.allocUnsafeSlow(readSize)]
    let written: Promise<void> | undefined
    for (let turn = 0; ; turn += 1) {
      const buffer = buffers[turn % 2]!
      const length = await this.#fill(buffer)
      await written
      if (length === 0) return
      written = write(destination, buffer.subarray(0, length))
      // Waited for above, but it may fail before.
      written.catch(() => undefined)
    }
  }

  /** Bytes read; none at the end. */
  async #fill(buffer: Buffer): Promise<number> {
    this.#opened ??= this.#open()
    const file = await this.#opened
    const wanted = Math.min(buffer.length, this.#end - this.#at + 1)
    if (wanted <= 0) return 0
    const { bytesRead } = await file.read(buffer, 0, wanted, this.#at)
    this.#at += bytesRead
    return bytesRead
  }

  async #open(): Promise<FileHandle> {
    this.#file = await open(this.#path)
    return this.#file
  }
}

/** Settled when the bytes have left; a destination that is closed takes none. */
function write(destination: NodeJS.WritableStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    destination.write(bytes, (error) => {
      if (error == null) resolve()
      else reject(error)
    })
  })
}
