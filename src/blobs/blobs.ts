import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { tooLarge } from '../kernel/errors/index.ts'
import { FileStream } from './file-stream.ts'

/** Content that has been stored: its SHA-256 in hex is its name. */
export interface Blob {
  readonly digest: string
  /** In bytes. */
  readonly size: number
}

/** Content by digest, in a folder: artifacts now, uploads and registry layers later. Equal content is stored once. */
export class Blobs {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Streams `content` in; 413 past `limit` bytes. The blob is on disk when this returns, and whole or not there.
   * `expected`: what it must be; anything else is refused like too many bytes.
   */
  async put(
    content: Readable,
    limit = Number.POSITIVE_INFINITY,
    refusal: () => Error = tooLarge,
    expected?: Blob,
  ): Promise<Blob> {
    const incoming = path.join(this.#directory, 'incoming')
    await mkdir(incoming, { recursive: true })
    const temporary = path.join(incoming, randomUUID())
    const hash = createHash('sha256')
    let size = 0
    const meter = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.length
        if (size > limit) {
          done(refusal())
          return
        }
        hash.update(chunk)
        done(null, chunk)
      },
    })
    try {
      await pipeline(content, meter, createWriteStream(temporary, { flags: 'wx', mode: 0o600, flush: true }))
      const digest = hash.digest('hex')
      if (expected !== undefined && (digest !== expected.digest || size !== expected.size)) throw refusal()
      const place = this.#place(digest)
      await mkdir(path.dirname(place), { recursive: true })
      await rename(temporary, place)
      await syncDirectory(path.dirname(place))
      return { digest, size }
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  /** Removes what uploads have left that a crash cut off, once it has lain for so many milliseconds. */
  async removeLeftovers(age: number): Promise<number> {
    const incoming = path.join(this.#directory, 'incoming')
    let removed = 0
    for (const name of await readdir(incoming).catch(() => [])) {
      const place = path.join(incoming, name)
      const found = await stat(place).catch(() => undefined)
      if (found === undefined || Date.now() - found.mtimeMs < age) continue
      await rm(place, { force: true })
      removed += 1
    }
    return removed
  }

  /** Bytes `start` to `end` (inclusive) or all of it. */
  read(digest: string, range?: { start: number; end: number }): Readable {
    return new FileStream(this.#place(digest), range)
  }

  /** Where it lies, for readers that need random access; read only. */
  path(digest: string): string {
    return this.#place(digest)
  }

  async has(digest: string): Promise<boolean> {
    return stat(this.#place(digest)).then(
      () => true,
      () => false,
    )
  }

  /** Only for content that nothing refers to any more. */
  async remove(digest: string): Promise<void> {
    await rm(this.#place(digest), { force: true })
  }

  #place(digest: string): string {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new TypeError('not a digest')
    return path.join(this.#directory, digest.slice(0, 2), digest.slice(2, 4), digest)
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
