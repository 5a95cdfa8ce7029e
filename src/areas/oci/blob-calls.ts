import type { FastifyReply } from 'fastify'
import type { Digest } from '../../blobs/index.ts'
import { findBlob, touchBlob, unlinkBlob } from './blob-store.ts'
import { immutable, type RegistryCall } from './call.ts'
import { blobUnknown, RegistryError } from './errors.ts'
import { readRange } from './ranges.ts'

/** GET, HEAD and DELETE of a blob. */
export async function blobCall(call: RegistryCall, name: string, digest: Digest): Promise<FastifyReply> {
  const { services, caller, method, reply } = call
  if (method === 'DELETE') {
    const { place } = caller.require(name, 'delete')
    if (!(await unlinkBlob(services.db, place, digest))) throw blobUnknown(digest)
    return reply.code(202).header('docker-content-digest', digest).send()
  }
  if (method !== 'GET' && method !== 'HEAD')
    throw new RegistryError(405, 'UNSUPPORTED', 'the operation is unsupported')
  return sendBlob(call, name, digest)
}

async function sendBlob(
  { services, caller, request, reply, method }: RegistryCall,
  name: string,
  digest: Digest,
): Promise<FastifyReply> {
  const { place } = caller.require(name, 'pull')
  const found = await findBlob(services.db, place, digest)
  if (found === undefined) throw blobUnknown(digest)
  // Who is about to push goes by what it finds here; so what it found stays.
  if (found.old && caller.pushes(name) && !(await touchBlob(services.db, place, digest)))
    throw blobUnknown(digest)
  const { size } = found
  const etag = `"${digest}"`
  void reply.headers({
    'content-type': 'application/octet-stream',
    'docker-content-digest': digest,
    'accept-ranges': 'bytes',
    'cache-control': immutable,
    etag,
  })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  const range = readRange(request.headers.range, size)
  if (range === 'none') {
    throw new RegistryError(416, 'SIZE_INVALID', 'the range lies beyond the end of the blob', {
      headers: { 'content-range': `bytes */${size}` },
    })
  }
  if (method === 'HEAD') return reply.header('content-length', size).send()
  if (range === 'all') {
    return reply.header('content-length', size).send(await services.content.read(digest))
  }
  return reply
    .code(206)
    .headers({
      'content-length': range.end - range.start + 1,
      'content-range': `bytes ${range.start}-${range.end}/${size}`,
    })
    .send(await services.content.read(digest, range))
}
