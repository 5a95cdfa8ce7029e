import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import path from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Appending } from './appending.ts'
import { syncPath } from './content.ts'
import { finished, type Algorithm, type Digest } from './digest.ts'

/** How far the digest of an upload was counted while its bytes came in. */
interface Counted {
  readonly size: number
  readonly hash: Hash
}

export interface AppendOptions {
  /** Where the bytes go: the end of what is there. */
  readonly at: number
  /** Asked before each write: false ends it, since somebody else may be writing by now. */
  readonly mine: () => boolean
  readonly signal: AbortSignal
}

const bufferSize = 1024 * 1024
/** Uploads whose digest is counted along the way; the others are read once more at their end. */
const countedAtOnce = 1000

/**
 * Content on its way in, one file each. The length of the file is how far it has come: it outlives this process, and
 * whoever goes on reads it there. One writer at a time, which the caller sees to.
 */
export class Uploads {
  readonly #directory: string
  readonly #counted = new Map<string, Counted>()

  constructor(directory: string) {
    this.#directory = directory
  }

  file(id: string): string {
    if (!/^[0-9a-f-]{36}$/.test(id)) throw new TypeError('not an upload')
    return path.join(this.#directory, id)
  }

  /** In bytes; an upload that nothing was written to has none. */
  async size(id: string): Promise<number> {
    return stat(this.file(id)).then(
      ({ size }) => size,
      (error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
        throw error
      },
    )
  }

  /**
   * Adds the bytes of a stream, whose chunks must be nobody else's; what came of a stream that breaks off is kept.
   * Answers the size it has then.
   */
  async append(id: string, content: Readable, { at, mine, signal }: AppendOptions): Promise<number> {
    await this.#create(id)
    const before = this.#counted.get(id)
    const hash = at === 0 ? createHash('sha256') : before?.size === at ? before.hash : undefined
    this.#counted.delete(id)
    await using file = new Appending(await open(this.file(id), 'r+'), at)
    for await (const chunk of addAbortSignal(signal, content) as AsyncIterable<Buffer>) {
      if (!mine()) throw new Error('the upload was taken over')
      // Counted while what came before is being written.
      hash?.update(chunk)
      await file.write(chunk)
    }
    const size = await file.end()
    if (hash !== undefined && this.#counted.size < countedAtOnce) this.#counted.set(id, { size, hash })
    return size
  }

  /** Takes away what is beyond a size. */
  async cut(id: string, size: number): Promise<void> {
    this.#counted.delete(id)
    await truncate(this.file(id), size)
  }

  /** Of all that is there, which is on disk when this returns. */
  async digest(id: string, algorithm: Algorithm): Promise<{ digest: Digest; size: number }> {
    await this.#create(id)
    await syncPath(this.file(id))
    const size = await this.size(id)
    const counted = this.#counted.get(id)
    if (algorithm === 'sha256' && counted?.size === size) {
      return { digest: finished(counted.hash.copy(), algorithm), size }
    }
    const hash = createHash(algorithm)
    await pipeline(createReadStream(this.file(id), { highWaterMark: bufferSize }), hash)
    return { digest: finished(hash, algorithm), size }
  }

  async remove(id: string): Promise<void> {
    this.#counted.delete(id)
    await rm(this.file(id), { force: true })
  }

  /** The ids of all that are there. */
  async list(): Promise<string[]> {
    try {
      return (await readdir(this.#directory)).filter((name) => /^[0-9a-f-]{36}$/.test(name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }

  async #create(id: string): Promise<void> {
    await mkdir(this.#directory, { recursive: true })
    const handle = await open(this.file(id), 'a', 0o600)
    await handle.close()
  }
}
