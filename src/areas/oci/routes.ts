import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { requestContext } from '../../kernel/log/index.ts'
import { drain } from '../git-http/index.ts'
import { readAddress, type Address } from './address.ts'
import { Caller, pullScope } from './authorize.ts'
import { blobCall } from './blob-calls.ts'
import { sendJson, type RegistryCall, type RegistryServices } from './call.ts'
import { RegistryError } from './errors.ts'
import { catalogCall, referrersCall, tagsCall } from './list-calls.ts'
import { manifestCall } from './manifest-calls.ts'
import { beginUpload, sourceOf, uploadCall } from './upload-calls.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** The distribution specification, under `/v2/`: names of images have slashes in them, so one route takes all. */
export function mountRegistry(server: FastifyInstance, services: RegistryServices): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    void reply.header('docker-distribution-api-version', 'registry/2.0')
    try {
      const [path = '', query = ''] = request.url.split('?', 2)
      const address = readAddress(path)
      const context = requestContext()
      if (context !== undefined) context.endpoint = `registry ${address?.kind ?? 'unknown'}`
      const caller = await Caller.of(request, services.tokens, services.externalUrl())
      const params = new URLSearchParams(query)
      caller.requireToken(address && scopeOf(address, request.method, params))
      if (address === undefined)
        throw new RegistryError(404, 'UNSUPPORTED', 'there is nothing at this address')
      return await answer(
        { services, caller, query: params, request, reply, method: request.method },
        address,
      )
    } catch (error) {
      if (error instanceof RegistryError) return refuse(request, reply, error)
      throw error
    }
  }
  for (const url of ['/v2', '/v2/*']) {
    server.route({ method: [...methods], url, exposeHeadRoute: false, handler })
  }
}

/** What a token must be for to make a call; the base wants any. */
function scopeOf(address: Address, method: string, query: URLSearchParams): string | undefined {
  if (address.kind === 'catalog') return 'registry:catalog:*'
  if (!('name' in address)) return undefined
  const upload = address.kind === 'uploads' || address.kind === 'upload'
  const actions = upload || method === 'PUT' ? 'pull,push' : method === 'DELETE' ? 'delete' : 'pull'
  const scope = `repository:${address.name}:${actions}`
  const source = address.kind === 'uploads' ? sourceOf(query, address.name) : undefined
  return source === undefined ? scope : `${scope} ${pullScope(source)}`
}

async function answer(call: RegistryCall, address: Address): Promise<FastifyReply> {
  switch (address.kind) {
    case 'base':
      return sendJson(call.reply, {})
    case 'catalog':
      return catalogCall(call)
    case 'tags':
      return tagsCall(call, address.name)
    case 'uploads':
      return beginUpload(call, address.name)
    case 'upload':
      return uploadCall(call, address.name, address.id)
    case 'blob':
      return blobCall(call, address.name, address.digest)
    case 'manifest':
      return manifestCall(call, address.name, address.reference)
    case 'referrers':
      return referrersCall(call, address.name, address.digest)
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply, error: RegistryError): FastifyReply {
  if (request.method !== 'GET' && request.method !== 'HEAD') drain(request.raw, request.raw)
  for (const name of ['content-length', 'content-type', 'cache-control', 'etag'])
    void reply.removeHeader(name)
  return reply
    .code(error.status)
    .headers({ 'content-type': 'application/json', ...error.headers })
    .send(Buffer.from(error.body))
}
