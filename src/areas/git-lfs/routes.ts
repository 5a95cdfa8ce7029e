import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../kernel/errors/index.ts'
import { send } from '../../kernel/endpoint/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import { drain, GitRefusal, type Neighbour } from '../git-http/index.ts'
import { readAddress, type LfsAddress } from './address.ts'
import { admitLfs } from './admission.ts'
import { answerBatch, readBatch } from './batch.ts'
import { readQuestion, sendJson, type LfsRequest } from './call.ts'
import type { LfsServices } from './index.ts'
import { listLocks, releaseLock, takeLock, verifyLocks } from './locks.ts'
import { sendObject, takeObject } from './transfer.ts'

/** Large files, under the addresses of projects: `/group/project.git/info/lfs/`. */
export function lfsNeighbour(services: LfsServices): Neighbour {
  return (method, path) => {
    const address = readAddress(method, path)
    if (address === undefined) return undefined
    return async (request, reply) => {
      const context = requestContext()
      if (context !== undefined) context.endpoint = `lfs ${address.call.kind}`
      try {
        return await answer(services, address, request, reply)
      } catch (error) {
        if (error instanceof GitRefusal) return refuse(request, reply, error.status, error.text)
        if (error instanceof ApiError && error.status < 500) {
          return refuse(request, reply, error.status, 'The question could not be read.')
        }
        throw error
      }
    }
  }
}

async function answer(
  services: LfsServices,
  { fullPath, call }: LfsAddress,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  // What a question is about decides who may ask it.
  const batch = call.kind === 'batch' ? readBatch(await readQuestion(request.raw)) : undefined
  const writes = batch === undefined ? request.method !== 'GET' : batch.operation === 'upload'
  const admitted = await admitLfs(services, request, fullPath, writes)
  const { user } = admitted.actor
  const tooMany = user === null ? undefined : services.throttles.count('git_lfs', { user: user.id })
  if (tooMany !== undefined) {
    if (request.method !== 'GET') drain(request.raw, request.raw)
    void send(reply, tooMany)
    return reply
  }
  const base = `${services.externalUrl()}/${admitted.project.fullPath}.git/info/lfs`
  const asked: LfsRequest = { ...admitted, services, request, reply, base }
  if (batch !== undefined) return answerBatch(asked, batch)
  switch (call.kind) {
    case 'object':
      return call.size === undefined
        ? sendObject(asked, call.oid)
        : takeObject(asked, { oid: call.oid, size: call.size })
    case 'unlock':
      return releaseLock(asked, call.id)
    case 'verify-locks':
      return verifyLocks(asked)
    default:
      return request.method === 'GET' ? listLocks(asked) : takeLock(asked)
  }
}

/** In the words that clients know; what a refusal says more is for those of 4xx that they show. */
function refuse(request: FastifyRequest, reply: FastifyReply, status: number, text: string): FastifyReply {
  if (request.method !== 'GET') drain(request.raw, request.raw)
  if (status === 401) {
    void reply.headers({
      'www-authenticate': 'Basic realm="Guildhall"',
      'lfs-authenticate': 'Basic realm="Guildhall"',
    })
  }
  const message =
    status === 404 ? 'Not found.' : status === 403 && !/lock|permission/.test(text) ? forbidden : text
  return sendJson(reply, status, { message, documentation_url: 'https://git-lfs.com' })
}

const forbidden = 'Access forbidden. Check your access level.'
