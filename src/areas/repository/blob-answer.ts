import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { GitError, readBlob, streamBlob, type Oid, type Repository } from '../../git/index.ts'
import { matchesEtag, weakEtag } from '../../kernel/endpoint/headers.ts'
import { Answer, type RequestFacts } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { byteRange, cutTo } from './byte-range.ts'
import type { LargeFile } from './services.ts'

/** Bytes up to which a file is held in memory; larger ones only pass through. */
const smallBlob = 1024 * 1024

/** SHA-256 of a blob's content, in hex. */
export async function contentDigest(repository: Repository, oid: Oid, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  const found = await streamBlob(repository, oid, signal)
  if (found === undefined) throw notFound('Blob')
  for await (const chunk of found.content as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex')
}

interface Blob {
  readonly repository: Repository
  readonly oid: Oid
  /** Bytes. */
  readonly size: number
}

/**
 * JSON with the blob's content in base64 as its field `content`, between the fields `before` and `after`. A large one
 * is written as it is read. The tag of the answer stands for the fields, one of which names the blob.
 */
export async function jsonWithContent(
  { repository, oid, size }: Blob,
  fields: { before: Record<string, unknown>; after: Record<string, unknown> },
  request: RequestFacts,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const start = `${JSON.stringify(fields.before).slice(0, -1)},"content":"`
  const end = `",${JSON.stringify(fields.after).slice(1)}`
  const etag = weakEtag(start + end)
  if (matchesEtag(request.headers['if-none-match'], etag)) return new Answer(304, { ...headers, etag })
  const length = Buffer.byteLength(start) + Math.ceil(size / 3) * 4 + Buffer.byteLength(end)
  const type = { 'content-type': 'application/json', 'content-length': String(length) }
  const all = { ...headers, etag, ...type }
  if (request.method === 'HEAD') return new Answer(200, all)
  if (size <= smallBlob) {
    const content = await readBlob(repository, oid, smallBlob)
    if (content === undefined) throw notFound('Blob')
    return new Answer(200, all, `${start}${content.toString('base64')}${end}`)
  }
  const found = await streamBlob(repository, oid, request.signal)
  if (found === undefined) throw notFound('Blob')
  return new Answer(200, all, Readable.from(wrapped(start, found.content, end), { objectMode: false }))
}

async function* wrapped(start: string, content: Readable, end: string): AsyncGenerator<Buffer> {
  yield Buffer.from(start)
  // Base64 writes three bytes as four characters: what is over waits for the next chunk.
  let left: Buffer = Buffer.alloc(0)
  for await (const chunk of content as AsyncIterable<Buffer>) {
    const data = left.length === 0 ? chunk : Buffer.concat([left, chunk])
    const whole = data.length - (data.length % 3)
    left = data.subarray(whole)
    yield Buffer.from(data.toString('base64', 0, whole))
  }
  yield Buffer.from(`${left.toString('base64')}${end}`)
}

/** The content as it is. Never as a page or a script: browsers must not run what somebody pushed. */
export async function rawAnswer(
  { repository, oid, size }: Blob,
  request: RequestFacts,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return bytesAnswer({ tag: oid, size }, request, headers, async (range) => {
    const found = await streamBlob(repository, oid, request.signal)
    if (found === undefined) throw notFound('Blob')
    found.content.on('error', ignoreHangUp)
    if (range === undefined) return found.content
    const cut = cutTo(range).on('error', ignoreHangUp)
    found.content.once('error', (error) => cut.destroy(error)).pipe(cut)
    return cut
  })
}

/** The same of a file that lies beside the repository. */
export function largeAnswer(
  { oid, size, read }: LargeFile,
  request: RequestFacts,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  return bytesAnswer({ tag: oid, size }, request, headers, read)
}

interface Range {
  readonly start: number
  readonly end: number
}

async function bytesAnswer(
  { tag, size }: { readonly tag: string; readonly size: number },
  request: RequestFacts,
  headers: Readonly<Record<string, string>>,
  read: (range: Range | undefined) => Promise<Readable>,
): Promise<Answer> {
  const etag = `W/"${tag}"`
  if (matchesEtag(request.headers['if-none-match'], etag)) return new Answer(304, { ...headers, etag })
  const all = {
    ...headers,
    etag,
    'content-type': 'text/plain',
    'accept-ranges': 'bytes',
    'content-length': String(size),
    'content-security-policy': "default-src 'none'; sandbox",
  }
  if (request.method === 'HEAD') return new Answer(200, all)
  const range = byteRange(request.headers['range'], size)
  if (range === 'unsatisfiable') return new Answer(416, { 'content-range': `bytes */${size}` })
  if (range === undefined) return new Answer(200, all, await read(undefined))
  const partial = {
    'content-length': String(range.end - range.start + 1),
    'content-range': `bytes ${range.start}-${range.end}/${size}`,
  }
  return new Answer(206, { ...all, ...partial }, await read(range))
}

/** Who hangs up is told nothing more; the rest is a failure that Fastify's own listener reports. */
function ignoreHangUp(error: unknown): void {
  if (!(error instanceof GitError)) throw error
}
