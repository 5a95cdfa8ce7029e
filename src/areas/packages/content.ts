import { createHash } from 'node:crypto'
import { Transform, type Readable } from 'node:stream'
import type { Blobs } from '../../blobs/index.ts'
import { Answer, type RequestFacts } from '../../kernel/endpoint/index.ts'
import { matchesEtag } from '../../kernel/endpoint/headers.ts'
import { ApiError, badRequest } from '../../kernel/errors/index.ts'
import { byteRange, contentDisposition } from '../repository/index.ts'

/** Content that is stored, by the digests that clients compare it with. */
export interface StoredFile {
  /** SHA-256 in hex. */
  readonly digest: string
  readonly md5: string
  readonly sha1: string
  /** In bytes. */
  readonly size: number
}

export const tooLargeFile = (): Error => badRequest('File is too large')

/** Streams content in; refused past `limit` bytes, 0 for none. */
export async function takeContent(blobs: Blobs, content: Readable, limit: number): Promise<StoredFile> {
  const [md5, sha1] = [createHash('md5'), createHash('sha1')]
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      md5.update(chunk)
      sha1.update(chunk)
      done(null, chunk)
    },
  })
  // Either may end before the store listens.
  counted.on('error', () => undefined)
  content.on('error', () => undefined)
  content.once('close', () => {
    const refusal = content.errored instanceof ApiError ? content.errored : undefined
    if (!content.readableEnded) counted.destroy(refusal ?? badRequest('The upload broke off'))
  })
  const stored = await blobs.put(
    content.pipe(counted),
    limit === 0 ? Number.POSITIVE_INFINITY : limit,
    tooLargeFile,
  )
  return { ...stored, md5: md5.digest('hex'), sha1: sha1.digest('hex') }
}

/** Refuses what says itself that it is too large, before any of it is read. */
export function checkLength({ headers }: RequestFacts, limit: number): void {
  if (limit > 0 && Number(headers['content-length'] ?? 0) > limit) throw tooLargeFile()
}

/** Streams a file out, in parts where they are asked for. `fetched` is called when content is about to leave. */
export async function fileAnswer(
  blobs: Blobs,
  { digest, file_name, size }: { readonly digest: string; readonly file_name: string; readonly size: number },
  request: RequestFacts,
  fetched: () => Promise<void>,
): Promise<Answer> {
  const etag = `"${digest}"`
  if (matchesEtag(request.headers['if-none-match'], etag)) return new Answer(304, { etag })
  const headers = {
    etag,
    'content-type': 'application/octet-stream',
    'content-disposition': contentDisposition('attachment', file_name.replace(/^.*\//, '')),
    'content-length': String(size),
    'accept-ranges': 'bytes',
    'x-checksum-sha256': digest,
    'x-content-type-options': 'nosniff',
  }
  if (request.method === 'HEAD') return new Answer(200, headers)
  const range = byteRange(request.headers['range'], size)
  if (range === 'unsatisfiable') return new Answer(416, { 'content-range': `bytes */${size}` })
  await fetched()
  if (range === undefined) return new Answer(200, headers, blobs.read(digest))
  const partial = {
    'content-length': String(range.end - range.start + 1),
    'content-range': `bytes ${range.start}-${range.end}/${size}`,
  }
  return new Answer(206, { ...headers, ...partial }, blobs.read(digest, range))
}
