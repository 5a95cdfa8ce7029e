import { createHash } from 'node:crypto'
import { Transform, type Readable } from 'node:stream'
import type { Blobs } from '../../blobs/index.ts'
import { badRequest } from '../../kernel/errors/index.ts'

/** Content that is stored, by the digests that clients compare it with. */
export interface StoredFile {
  /** SHA-256 in hex. */
  readonly digest: string
  readonly md5: string
  readonly sha1: string
  /** In bytes. */
  readonly size: number
}

/** Streams content in; `refusal` past `limit` bytes, 0 for none. */
export async function takeContent(
  blobs: Blobs,
  content: Readable,
  limit: number,
  refusal: () => Error,
): Promise<StoredFile> {
  const [md5, sha1] = [createHash('md5'), createHash('sha1')]
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      md5.update(chunk)
      sha1.update(chunk)
      done(null, chunk)
    },
  })
  content.on('error', () => undefined)
  content.once('close', () => {
    if (!content.readableEnded) counted.destroy(badRequest('The upload broke off'))
  })
  const stored = await blobs.put(
    content.pipe(counted),
    limit === 0 ? Number.POSITIVE_INFINITY : limit,
    refusal,
  )
  return { ...stored, md5: md5.digest('hex'), sha1: sha1.digest('hex') }
}
