import { glob, mkdir, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { syncPath } from './content.ts'
import { FileStream } from './file-stream.ts'
import { receive, removeLeftovers, removeOld, type Blob } from './receive.ts'

/** Content by digest, in a folder: artifacts, packages, uploads. Equal content is stored once. */
export class Blobs {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Streams `content` in; 413 past `limit` bytes. The blob is on disk when this returns, and whole or not there. */
  async put(content: Readable, limit?: number, refusal?: () => Error): Promise<Blob> {
    const { file, digest, size } = await receive(this.#incoming, content, { limit, refusal })
    try {
      const place = this.#place(digest)
      await mkdir(path.dirname(place), { recursive: true })
      await rename(file, place)
      await syncPath(path.dirname(place))
      return { digest, size }
    } catch (error) {
      await rm(file, { force: true })
      throw error
    }
  }

  /** Removes what uploads have left that a crash cut off, once it has lain for so many milliseconds. */
  removeLeftovers(age: number): Promise<number> {
    return removeLeftovers(this.#incoming, age)
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

  /**
   * Removes what has lain for so many milliseconds and is not among what `needed` answers of it. What is put again is new:
   * within that time whoever put it has to say that he needs it.
   */
  async removeUnneeded(
    age: number,
    needed: (digests: readonly string[]) => Promise<ReadonlySet<string>>,
  ): Promise<void> {
    const files = await Array.fromAsync(glob('[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*', { cwd: this.#directory }))
    const kept = await needed(files.map((file) => path.basename(file)))
    for (const file of files.filter((each) => !kept.has(path.basename(each)))) {
      await removeOld(path.join(this.#directory, file), age)
    }
  }

  get #incoming(): string {
    return path.join(this.#directory, 'incoming')
  }

  #place(digest: string): string {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new TypeError('not a digest')
    return path.join(this.#directory, digest.slice(0, 2), digest.slice(2, 4), digest)
  }
}
