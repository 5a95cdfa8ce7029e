import type { FastifyReply } from 'fastify'
import { algorithmOf, type Digest } from '../../blobs/index.ts'
import { isName, readDigest } from './address.ts'
import { finishUpload, mountBlob } from './blob-store.ts'
import type { RegistryCall } from './call.ts'
import { digestInvalid, RegistryError, sizeInvalid, uploadUnknown } from './errors.ts'
import type { Place } from './place.ts'
import { readContentRange } from './ranges.ts'
import { dropUpload, hasUpload, openUpload, takeUpload, type Writing } from './upload-store.ts'

/** The other repository that a blob is to be taken over from. */
export function sourceOf(query: URLSearchParams, name: string): string | undefined {
  const from = query.get('from') ?? ''
  return query.has('mount') && isName(from) && from !== name ? from : undefined
}

/** POST: begins an upload, takes a blob over from another repository, or brings a whole blob at once. */
export async function beginUpload(call: RegistryCall, name: string): Promise<FastifyReply> {
  const { services, caller, query, method, reply } = call
  if (method !== 'POST') throw unsupported()
  const { place } = caller.requirePush(name, sourceOf(query, name))
  const mount = query.get('mount')
  if (mount !== null) {
    const digest = readDigest(mount)
    const from = caller.readable(query.get('from') ?? '')
    if (from !== undefined && (await mountBlob(services.db, services.content, { from, to: place, digest }))) {
      return created(reply, place, digest)
    }
  }
  const whole = query.get('digest')
  const digest = whole === null ? undefined : readDigest(whole)
  const id = await openUpload(services.db, place)
  if (digest === undefined) return accepted(reply, place, id, 0)
  try {
    return await closeUpload(call, place, id, digest)
  } catch (error) {
    // Nobody was told its name.
    await discard(call, place, id)
    throw error
  }
}

/** What comes after: GET asks how far it is, PATCH adds, PUT ends, DELETE gives up. */
export async function uploadCall(call: RegistryCall, name: string, id: string): Promise<FastifyReply> {
  const { services, caller, query, method, reply } = call
  const { place } = caller.require(name, 'pull', 'push')
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (!(await hasUpload(services.db, place, id))) throw uploadUnknown()
      return progress(reply.code(204), place, id, await services.uploads.size(id)).send()
    case 'PATCH':
      return accepted(reply, place, id, await addTo(call, place, id))
    case 'PUT':
      return closeUpload(call, place, id, readDigest(query.get('digest') ?? ''))
    case 'DELETE':
      if (!(await dropUpload(services.db, place, id))) throw uploadUnknown()
      await services.uploads.remove(id)
      return reply.code(204).send()
    default:
      throw unsupported()
  }
}

async function addTo(call: RegistryCall, place: Place, id: string): Promise<number> {
  await using writing = await takeUpload(call.services, place, id)
  return await append(call, place, id, writing)
}

async function closeUpload(
  call: RegistryCall,
  place: Place,
  id: string,
  digest: Digest,
): Promise<FastifyReply> {
  await endUpload(call, place, id, digest)
  return created(call.reply, place, digest)
}

async function endUpload(call: RegistryCall, place: Place, id: string, digest: Digest): Promise<void> {
  const { services } = call
  await using writing = await takeUpload(services, place, id)
  await append(call, place, id, writing)
  const found = await services.uploads.digest(id, algorithmOf(digest))
  if (found.digest !== digest) {
    await discard(call, place, id)
    throw digestInvalid()
  }
  await finishUpload(services, { place, id, writer: writing.writer, digest, size: found.size })
}

/** Adds the body, if there is one, where the client says that it belongs: at the end. Answers the new size. */
async function append(
  { services, request, reply }: RegistryCall,
  place: Place,
  id: string,
  { mine }: Writing,
): Promise<number> {
  const { uploads } = services
  const at = await uploads.size(id)
  const range = readContentRange(request.headers['content-range'])
  if (range === null || (range !== undefined && range.start !== at)) {
    throw new RegistryError(416, 'BLOB_UPLOAD_INVALID', 'the piece does not follow on what is there', {
      headers: { location: locationOf(place, id), range: rangeTo(at) },
    })
  }
  const declared = request.headers['content-length']
  const length = range === undefined ? undefined : range.end - range.start + 1
  if (length !== undefined && declared !== undefined && Number(declared) !== length) throw sizeInvalid()
  const stop = new AbortController()
  const gone = (): void => stop.abort()
  reply.raw.once('close', gone)
  try {
    const size = await uploads.append(id, request.raw, { at, mine, signal: stop.signal })
    if (length !== undefined && size !== at + length) {
      await uploads.cut(id, at)
      throw sizeInvalid()
    }
    return size
  } catch (error) {
    if (error instanceof RegistryError || (!request.raw.destroyed && !stop.signal.aborted)) throw error
    // Nobody hears it any more; what came stays, for the client to go on.
    throw new RegistryError(400, 'BLOB_UPLOAD_INVALID', 'the body broke off')
  } finally {
    reply.raw.off('close', gone)
  }
}

async function discard({ services }: RegistryCall, place: Place, id: string): Promise<void> {
  await dropUpload(services.db, place, id)
  await services.uploads.remove(id)
}

function unsupported(): RegistryError {
  return new RegistryError(405, 'UNSUPPORTED', 'the operation is unsupported')
}

function locationOf(place: Place, id: string): string {
  return `/v2/${place.path}/blobs/uploads/${id}`
}

/** There is no way to write an empty range: as everybody does, the first byte stands for it. */
function rangeTo(size: number): string {
  return `0-${Math.max(0, size - 1)}`
}

function progress(reply: FastifyReply, place: Place, id: string, size: number): FastifyReply {
  return reply.headers({ location: locationOf(place, id), range: rangeTo(size), 'docker-upload-uuid': id })
}

function accepted(reply: FastifyReply, place: Place, id: string, size: number): FastifyReply {
  return progress(reply.code(202), place, id, size).send()
}

function created(reply: FastifyReply, place: Place, digest: Digest): FastifyReply {
  return reply
    .code(201)
    .headers({ location: `/v2/${place.path}/blobs/${digest}`, 'docker-content-digest': digest })
    .send()
}
