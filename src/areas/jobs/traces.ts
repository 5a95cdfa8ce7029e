import { mkdir, open, rm, stat, truncate, utimes, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'

export type Appended = { readonly size: number; readonly taken: boolean }

/** Bytes at the end, or from `first` to `end`, both included. */
export type TracePart = { readonly last: number } | { readonly first: number; readonly end: number }

const jobsPerFolder = 10_000

/**
 * The logs of jobs: a file each, below a folder that all nodes share. A piece is written at the very place it belongs
 * to, so that one that was sent twice, or was cut off, does no harm; the file's time is the last sign of its runner.
 */
export class Traces {
  readonly #directory: string
  /** Of jobs whose log somebody has asked for, when. */
  readonly #watched = new Map<number, number>()

  constructor(directory: string) {
    this.#directory = directory
  }

  /** Writes `piece` if the log ends where it begins; answers how long the log is now. */
  async append(jobId: number, first: number, piece: Buffer): Promise<Appended> {
    const place = this.#place(jobId)
    const handle = await openForWriting(place)
    try {
      const { size } = await handle.stat()
      if (size !== first) return { size, taken: false }
      await handle.write(piece, 0, piece.length, first)
      return { size: first + piece.length, taken: true }
    } finally {
      await handle.close()
    }
  }

  /** Bytes stored; 0 where there is no log. */
  async size(jobId: number): Promise<number> {
    return (await this.#stat(jobId))?.size ?? 0
  }

  /** When the runner was last heard of, or undefined where it never was. */
  async lastSign(jobId: number): Promise<Date | undefined> {
    return (await this.#stat(jobId))?.mtime
  }

  /** Notes that the runner is alive although it had nothing to say. */
  async touch(jobId: number): Promise<void> {
    const now = new Date()
    try {
      await utimes(this.#place(jobId), now, now)
    } catch (error) {
      if (!isMissing(error)) throw error
      await (await openForWriting(this.#place(jobId))).close()
    }
  }

  /** On disk for good. */
  async finish(jobId: number): Promise<void> {
    let handle: FileHandle
    try {
      handle = await open(this.#place(jobId), 'r')
    } catch (error) {
      if (isMissing(error)) return
      throw error
    }
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    this.#watched.delete(jobId)
    await rm(this.#mark(jobId), { force: true })
  }

  /** The log, or a part of it, as it is now, with the size of both; undefined where there is none. */
  async read(
    jobId: number,
    part: TracePart = { last: Infinity },
  ): Promise<{ size: number; first: number; whole: number; content: Readable } | undefined> {
    let handle: FileHandle
    try {
      handle = await open(this.#place(jobId), 'r')
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
    const { size } = await handle.stat()
    if (size === 0) {
      await handle.close()
      return undefined
    }
    const start = 'last' in part ? Math.max(0, size - part.last) : part.first
    const end = 'last' in part ? size - 1 : Math.min(part.end, size - 1)
    if (start > end) {
      await handle.close()
      return undefined
    }
    return {
      size: end - start + 1,
      first: start,
      whole: size,
      content: handle.createReadStream({ start, end }),
    }
  }

  /** CRC-32 of the whole log. */
  async checksum(jobId: number): Promise<number> {
    const found = await this.read(jobId)
    let sum = 0
    if (found !== undefined) for await (const piece of found.content) sum = crc32(piece as Buffer, sum)
    return sum
  }

  /** Empties a log that came out wrong; false where that was done before, which a mark beside it tells. */
  async restart(jobId: number): Promise<boolean> {
    const mark = this.#mark(jobId)
    try {
      await (await open(mark, 'wx', 0o600)).close()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
    await truncate(this.#place(jobId))
    return true
  }

  watch(jobId: number): void {
    const now = Date.now()
    if (this.#watched.size > 10_000) {
      for (const [id, since] of this.#watched) if (now - since > 60_000) this.#watched.delete(id)
    }
    this.#watched.set(jobId, now)
  }

  /** Seconds after which a runner should send what it has. */
  interval(jobId: number): number {
    return Date.now() - (this.#watched.get(jobId) ?? 0) < 60_000 ? 3 : 60
  }

  async remove(jobId: number): Promise<void> {
    await rm(this.#place(jobId), { force: true })
    await rm(this.#mark(jobId), { force: true })
  }

  async #stat(jobId: number): Promise<{ size: number; mtime: Date } | undefined> {
    try {
      return await stat(this.#place(jobId))
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  #mark(jobId: number): string {
    return `${this.#place(jobId)}.restarted`
  }

  #place(jobId: number): string {
    return path.join(this.#directory, String(Math.floor(jobId / jobsPerFolder)), `${jobId}.log`)
  }
}

/** For writing at any place, whether or not it is there. */
async function openForWriting(place: string): Promise<FileHandle> {
  try {
    return await open(place, 'r+')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  await mkdir(path.dirname(place), { recursive: true })
  try {
    return await open(place, 'wx+', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return open(place, 'r+')
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
