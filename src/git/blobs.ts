import { Readable } from 'node:stream'
import { objectName } from './object-readers.ts'
import type { Oid, Rev, TreePath } from './parse.ts'
import type { Repository } from './repository.ts'
import { failure, start } from './run.ts'

export interface BlobHeader {
  readonly oid: Oid
  /** Bytes. */
  readonly size: number
}

/** Smaller ones are read whole by the pooled reader; larger ones get a process of their own, which may be slow. */
const wholeLimit = 1024 * 1024

/** The file at this path of a revision; `undefined` for folders, submodules and what is not there. */
export async function findBlob(
  repository: Repository,
  rev: Rev,
  path: TreePath,
): Promise<BlobHeader | undefined> {
  const found = await repository.readers.header(repository, objectName(rev, path))
  return found?.type === 'blob' ? { oid: found.oid, size: found.size } : undefined
}

export async function blobSize(repository: Repository, oid: Oid): Promise<number | undefined> {
  const found = await repository.readers.header(repository, objectName(oid))
  return found?.type === 'blob' ? found.size : undefined
}

/** The whole content, for files that are known to be small. Larger ones than `limit` bytes throw `too-large`. */
export async function readBlob(repository: Repository, oid: Oid, limit: number): Promise<Buffer | undefined> {
  const found = await repository.readers.object(repository, objectName(oid), limit)
  return found?.type === 'blob' ? found.content : undefined
}

/** The content as a stream, of any size. Destroying the stream ends the reading. */
export async function streamBlob(
  repository: Repository,
  oid: Oid,
  signal?: AbortSignal,
): Promise<{ size: number; content: Readable } | undefined> {
  const size = await blobSize(repository, oid)
  if (size === undefined) return undefined
  if (size <= wholeLimit) {
    const content = await readBlob(repository, oid, wholeLimit)
    if (content === undefined) return undefined
    return { size, content: Readable.from(size === 0 ? [] : [content], { objectMode: false }) }
  }
  return { size, content: Readable.from(chunks(repository, oid, signal), { objectMode: false }) }
}

async function* chunks(
  repository: Repository,
  oid: Oid,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const git = start(repository, 'cat-file', { flags: ['blob'], revs: [oid], signal })
  git.stdin.end()
  let finished = false
  try {
    yield* git.stdout as AsyncIterable<Buffer>
    finished = true
  } finally {
    if (!finished) git.kill()
  }
  const exitCode = await git.exit
  if (exitCode !== 0) throw failure('cat-file', exitCode, git.stderr())
}

/** Whether a file's beginning looks binary to git: a NUL among its first 8,000 bytes. */
export function looksBinary(content: Buffer): boolean {
  return content.subarray(0, 8000).includes(0)
}
