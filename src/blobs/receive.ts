import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { tooLarge } from '../kernel/errors/index.ts'

/** Content that has come in: its SHA-256 in hex, and how much it is. */
export interface Blob {
  readonly digest: string
  /** In bytes. */
  readonly size: number
}

/** Content in a file of its own, which whoever keeps it renames, links or sends on. */
export interface Received extends Blob {
  readonly file: string
}

export interface Expectation {
  /** In bytes. */
  readonly limit?: number | undefined
  readonly refusal?: (() => Error) | undefined
  /** What it must be; anything else is refused like too many bytes. */
  readonly expected?: Blob | undefined
}

/** Streams `content` into a file in the folder. It is whole and on disk when this returns, or not there. */
export async function receive(
  folder: string,
  content: Readable,
  { limit = Number.POSITIVE_INFINITY, refusal = tooLarge, expected }: Expectation = {},
): Promise<Received> {
  await mkdir(folder, { recursive: true })
  const file = path.join(folder, randomUUID())
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
    await pipeline(content, meter, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }))
    const digest = hash.digest('hex')
    if (expected !== undefined && (digest !== expected.digest || size !== expected.size)) throw refusal()
    return { file, digest, size }
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}

/** Removes from the folder what a crash cut off, once it has lain for so many milliseconds. */
export async function removeLeftovers(folder: string, age: number): Promise<number> {
  let removed = 0
  for (const name of await readdir(folder).catch(() => [])) {
    if (await removeOld(path.join(folder, name), age)) removed += 1
  }
  return removed
}

/** Removes a file that has lain for so many milliseconds; answers whether it did. */
export async function removeOld(place: string, age: number): Promise<boolean> {
  const found = await stat(place).catch(() => undefined)
  if (found === undefined || Date.now() - found.mtimeMs < age) return false
  await rm(place, { force: true })
  return true
}
