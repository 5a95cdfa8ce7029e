import type { IncomingMessage } from 'node:http'
import type { FastifyReply } from 'fastify'
import { algorithmOf, digestOf, type Digest } from '../../blobs/index.ts'
import { isDenied } from '../container-rules/index.ts'
import type { Reference } from './address.ts'
import { immutable, type RegistryCall } from './call.ts'
import { denied, digestInvalid, manifestUnknown, RegistryError } from './errors.ts'
import { largestManifest, readManifest } from './manifest.ts'
import { deleteManifest, deleteTag, findManifest, putManifest, tagsOf } from './manifest-store.ts'
import type { Permitted } from './authorize.ts'

export async function manifestCall(
  call: RegistryCall,
  name: string,
  reference: Reference,
): Promise<FastifyReply> {
  switch (call.method) {
    case 'GET':
    case 'HEAD':
      return sendManifest(call, name, reference)
    case 'PUT':
      return takeManifest(call, name, reference)
    case 'DELETE':
      return removeManifest(call, name, reference)
    default:
      throw new RegistryError(405, 'UNSUPPORTED', 'the operation is unsupported')
  }
}

function textOf(reference: Reference): string {
  return 'tag' in reference ? reference.tag : reference.digest
}

async function sendManifest(
  { services, caller, request, reply, method }: RegistryCall,
  name: string,
  reference: Reference,
): Promise<FastifyReply> {
  const { place } = caller.require(name, 'pull')
  const found = await findManifest(services.db, place, reference, { payload: method === 'GET' })
  if (found === undefined) throw manifestUnknown(textOf(reference))
  const etag = `"${found.digest}"`
  void reply.headers({
    'content-type': found.media_type,
    'docker-content-digest': found.digest,
    ...('digest' in reference && { 'cache-control': immutable }),
    etag,
  })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  return found.payload === null
    ? reply.header('content-length', found.size).send()
    : reply.send(found.payload)
}

async function takeManifest(
  { services, caller, request, reply }: RegistryCall,
  name: string,
  reference: Reference,
): Promise<FastifyReply> {
  const permitted = caller.require(name, 'pull', 'push')
  const payload = await readBody(request.raw)
  const manifest = readManifest(payload, request.headers['content-type'])
  const tag = 'tag' in reference ? reference.tag : undefined
  const digest = digestOf(payload, 'digest' in reference ? algorithmOf(reference.digest) : 'sha256')
  if ('digest' in reference && reference.digest !== digest) throw digestInvalid()
  if (tag !== undefined) await requireTagPush(services, permitted, tag, digest)
  await putManifest(services.db, permitted.place, { manifest, digest, payload, tag })
  return reply
    .code(201)
    .headers({
      location: `/v2/${name}/manifests/${textOf(reference)}`,
      'docker-content-digest': digest,
      ...(manifest.subject !== null && { 'oci-subject': manifest.subject }),
    })
    .send()
}

/** A protected tag is for few to push; an immutable one gets its manifest once. */
async function requireTagPush(
  { db }: RegistryCall['services'],
  { place, meta }: Permitted,
  tag: string,
  digest: Digest,
): Promise<void> {
  if (isDenied(meta.tag_deny_access_patterns.push, tag)) throw denied('pushing to protected tag forbidden')
  if (!isDenied(meta.tag_immutable_patterns, tag)) return
  const existing = await findManifest(db, place, { tag }, { payload: false })
  if (existing !== undefined && existing.digest !== digest) throw denied('the tag is immutable')
}

async function removeManifest(
  { services, caller, reply }: RegistryCall,
  name: string,
  reference: Reference,
): Promise<FastifyReply> {
  const { place, meta } = caller.require(name, 'delete')
  const protects = [...meta.tag_deny_access_patterns.delete, ...meta.tag_immutable_patterns]
  const tags =
    'tag' in reference
      ? [reference.tag]
      : protects.length === 0
        ? []
        : await tagsOf(services.db, place, reference.digest)
  if (tags.some((tag) => isDenied(protects, tag))) throw denied('deleting protected tag forbidden')
  const gone =
    'tag' in reference
      ? await deleteTag(services.db, place, reference.tag)
      : await deleteManifest(services.db, place, reference.digest)
  if (!gone) throw manifestUnknown(textOf(reference))
  return reply.code(202).send()
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = new RegistryError(
    413,
    'MANIFEST_INVALID',
    `a manifest has ${largestManifest} bytes at most`,
  )
  if (Number(request.headers['content-length'] ?? 0) > largestManifest) throw tooLarge
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > largestManifest) throw tooLarge
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
