import { constants, copyFile, link, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { FileStream } from './file-stream.ts'
import { algorithmOf, hexOf, parseDigest, type Digest } from './digest.ts'

/** Bytes from `start` to `end`, both inclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Large content by digest, each once, wherever it is kept. */
export interface Content {
  /** Keeps what is in a file, which the caller knows to have this digest; the file stays the caller's. */
  adopt(file: string, digest: Digest): Promise<void>
  read(digest: Digest, range?: ByteRange): Promise<Readable>
  has(digest: Digest): Promise<boolean>
  /** Only for content that nothing refers to any more. */
  remove(digest: Digest): Promise<void>
}

/** Where content lies below a folder or in a bucket; no text that is no digest becomes a part of it. */
export function placeOf(digest: Digest): string {
  return `${algorithmOf(digest)}/${placeByHex(digest)}`
}

/** The same where all digests are of one algorithm. */
export function placeByHex(digest: Digest): string {
  if (parseDigest(digest) === undefined) throw new TypeError('not a digest')
  const hex = hexOf(digest)
  return `${hex.slice(0, 2)}/${hex.slice(2, 4)}/${hex}`
}

/** Content in a folder, which the files that it adopts had better be on the same file system with. */
export class FolderContent implements Content {
  readonly #directory: string
  readonly #placeOf: typeof placeOf

  constructor(directory: string, place: typeof placeOf = placeOf) {
    this.#directory = directory
    this.#placeOf = place
  }

  async adopt(file: string, digest: Digest): Promise<void> {
    const place = this.#place(digest)
    const folder = path.dirname(place)
    await mkdir(folder, { recursive: true })
    try {
      await link(file, place)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') return
      if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'EMLINK' && code !== 'ENOTSUP') throw error
      await copyInto(file, place)
    }
    await syncPath(folder)
  }

  async read(digest: Digest, range?: ByteRange): Promise<Readable> {
    return new FileStream(this.#place(digest), range)
  }

  async has(digest: Digest): Promise<boolean> {
    return stat(this.#place(digest)).then(
      () => true,
      () => false,
    )
  }

  async remove(digest: Digest): Promise<void> {
    await rm(this.#place(digest), { force: true })
  }

  #place(digest: Digest): string {
    return path.join(this.#directory, this.#placeOf(digest))
  }
}

/** Content that is kept in one place now, and was in another before, where the older of it still lies. */
export class EitherContent implements Content {
  readonly #now: Content
  readonly #before: Content

  constructor(now: Content, before: Content) {
    this.#now = now
    this.#before = before
  }

  adopt(file: string, digest: Digest): Promise<void> {
    return this.#now.adopt(file, digest)
  }

  async read(digest: Digest, range?: ByteRange): Promise<Readable> {
    return (await this.#before.has(digest)) ? this.#before.read(digest, range) : this.#now.read(digest, range)
  }

  async has(digest: Digest): Promise<boolean> {
    return (await this.#before.has(digest)) || this.#now.has(digest)
  }

  async remove(digest: Digest): Promise<void> {
    await this.#before.remove(digest)
    await this.#now.remove(digest)
  }
}

/** The file is whole under its name, or not there. */
async function copyInto(file: string, place: string): Promise<void> {
  const temporary = `${place}.${randomUUID()}`
  try {
    await copyFile(file, temporary, constants.COPYFILE_EXCL)
    await syncPath(temporary)
    await rename(temporary, place)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Until then the content of a file, or the names in a folder, may be lost with the machine's power. */
export async function syncPath(place: string): Promise<void> {
  const handle = await open(place, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
