import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { receive } from '../../blobs/index.ts'
import { GitRefusal } from '../git-http/index.ts'
import type { LfsRequest } from './call.ts'
import type { LargeContent, LfsServices } from './index.ts'
import { digestOfOid } from './pointer.ts'
import * as store from './store.ts'

/** The content of an object, or the part of it that a broken-off download goes on with. */
export async function sendObject(
  { services, project, request, reply }: LfsRequest,
  oid: string,
): Promise<FastifyReply> {
  const [found] = await store.findObjects(services.db.reader, project.id, [oid])
  if (found === undefined) throw new GitRefusal(404, 'Not found.')
  const { size } = found
  const { content } = services.largeContent
  void reply.headers({
    'content-type': 'application/octet-stream',
    'accept-ranges': 'bytes',
    etag: `"${oid}"`,
    'cache-control': 'private, max-age=31536000',
  })
  const start = startOf(request.headers.range, size)
  if (start === undefined)
    return reply.header('content-length', size).send(await content.read(digestOfOid(oid)))
  return reply
    .code(206)
    .headers({ 'content-length': size - start, 'content-range': `bytes ${start}-${size - 1}/${size}` })
    .send(await content.read(digestOfOid(oid), { start, end: size - 1 }))
}

/** Clients go on where they were; whatever else is asked for gets the whole. */
function startOf(range: string | undefined, size: number): number | undefined {
  const start = Number(/^bytes=(\d{1,15})-(?:\d*)$/.exec(range ?? '')?.[1] ?? NaN)
  return start > 0 && start < size ? start : undefined
}

/** Takes an object in, when it is what its address says. */
export async function takeObject(
  { services, project, request, reply }: LfsRequest,
  object: store.StoredObject,
): Promise<FastifyReply> {
  const mismatch = (): GitRefusal => new GitRefusal(400, 'SHA256 or size mismatch')
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) !== object.size) throw mismatch()
  await keepLargeFile(services, project.id, object, { content: request.raw, refusal: mismatch })
  return reply.code(200).send()
}

/** Lets a project have an object; `refusal`: for content that is another one. */
export async function keepLargeFile(
  { db, largeContent }: Pick<LfsServices, 'db' | 'largeContent'>,
  projectId: number,
  object: store.StoredObject,
  { content, refusal }: { readonly content: Readable; readonly refusal: () => Error },
): Promise<void> {
  const received = await receive(largeContent.incoming, content, {
    limit: object.size,
    refusal,
    expected: { digest: object.oid, size: object.size },
  })
  try {
    await largeContent.content.adopt(received.file, digestOfOid(object.oid))
  } finally {
    await rm(received.file, { force: true })
  }
  await store.keep(db, largeContent.content, projectId, object)
}

export function readLargeFile({ content }: LargeContent, oid: string): Promise<Readable> {
  return content.read(digestOfOid(oid))
}
