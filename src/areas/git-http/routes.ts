import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Throttles } from '../../access/index.ts'
import { parseProtocol, type Service } from '../../git/index.ts'
import { send } from '../../kernel/endpoint/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import { readAddress, type GitAddress } from './address.ts'
import { admit, type Admitted } from './admission.ts'
import { checkContentType, drain } from './body.ts'
import { goPackage, sendGoImport, type GoServices } from './go-import.ts'
import { readLogin } from './login.ts'
import { GitRefusal } from './refusal.ts'
import { advertise, fetch, push, type GitServices } from './transfer.ts'

/** Answers what else lies under the addresses of projects; undefined for addresses of something else. */
export type Neighbour = (
  method: string,
  path: string,
) => ((request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply | undefined>) | undefined

/** Every repository is its own address, so these routes match all that no other route does, and look closer. */
export function mountGit(
  server: FastifyInstance,
  services: GitServices & GoServices & { readonly neighbours: readonly Neighbour[] },
): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const [path = '', query = ''] = request.url.split('?', 2)
    const parameters = new URLSearchParams(query)
    const asked = request.method === 'GET' ? goPackage(path, parameters) : undefined
    if (asked !== undefined) return sendGoImport(services, asked, request, reply)
    for (const neighbour of services.neighbours) {
      const answering = neighbour(request.method, path)
      if (answering !== undefined) return answering(request, reply)
    }
    const address = readAddress(path)
    if (
      address === undefined ||
      (address.call === 'info/refs') !== (request.method !== 'POST') ||
      request.method === 'PUT'
    ) {
      reply.callNotFound()
      return reply
    }
    const context = requestContext()
    if (context !== undefined) context.endpoint = `git ${address.call}`
    try {
      await answer(services, address, parameters, request, reply)
      return
    } catch (error) {
      if (error instanceof GitRefusal) return refuse(request, reply, error)
      throw error
    }
  }
  server.route({ method: ['GET', 'POST', 'PUT'], url: '/*', handler })
}

async function answer(
  services: GitServices,
  address: GitAddress,
  query: URLSearchParams,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const { fullPath, call, suffixed } = address
  if (!suffixed) {
    if (call !== 'info/refs') throw new GitRefusal(404, 'The address of a repository ends in .git.')
    const rest = `info/refs${query.size > 0 ? `?${query.toString()}` : ''}`
    const location = `${services.externalUrl()}/${encodeURI(fullPath)}.git/${rest}`
    return reply
      .code(301)
      .headers({ location, ...plain })
      .send(Buffer.from(`Moved to ${location}\n`))
  }
  if (request.method === 'HEAD') throw new GitRefusal(403, 'Use GET.')
  const service = call === 'info/refs' ? query.get('service') : call
  if (service !== 'git-upload-pack' && service !== 'git-receive-pack') {
    throw new GitRefusal(403, 'Only the smart protocol of git is served here.')
  }
  const { throttles } = services
  const login = request.headers.authorization
  // Whoever shows who he is is counted as that, once he is known.
  if (login === undefined && isThrottled(throttles, { address: request.ip }, reply)) return reply
  const creates = call === 'info/refs' && service === 'git-receive-pack'
  const asked = { fullPath, address: request.ip, creates }
  const admitted = await admit(services, readLogin(login), asked, service)
  const { user } = admitted.actor
  if (user !== null && isThrottled(throttles, { user: user.id }, reply)) return reply
  const context = requestContext()
  if (context !== undefined && admitted.actor.user !== null) context.actor = admitted.actor.user.username
  return serve(services, { service, call, fullPath }, admitted, request, reply)
}

/** Counts the request; one too many is answered. */
function isThrottled(throttles: Throttles, caller: Caller, reply: FastifyReply): boolean {
  const refusal = throttles.count('git_http', caller)
  if (refusal !== undefined) void send(reply, refusal)
  return refusal !== undefined
}

async function serve(
  services: GitServices,
  { service, call, fullPath }: { service: Service; call: GitAddress['call']; fullPath: string },
  admitted: Admitted,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const header = request.headers['git-protocol']
  const version = parseProtocol(Array.isArray(header) ? header.join(':') : header)
  if (call === 'info/refs') {
    const body = await advertise(admitted.target, service, version)
    return reply.headers({ ...fresh, 'content-type': `application/x-${service}-advertisement` }).send(body)
  }
  checkContentType(request.raw, `application/x-${service}-request`)
  const headers = { ...fresh, 'content-type': `application/x-${service}-result` }
  const { actor, target } = admitted
  if (service === 'git-upload-pack' && target.project !== undefined) {
    if (await services.noteDownload(actor, target.project.id)) throw new GitRefusal(403, shutOut)
  }
  if (service === 'git-upload-pack') await fetch(services, admitted.target, version, request, reply, headers)
  else await push(services, admitted, fullPath, request, reply, headers)
  return undefined
}

/** What somebody is told who was shut out just now. */
export const shutOut = 'Your account has been blocked.'

/** Answers that change with every push, and that no proxy may keep. */
const fresh = {
  'cache-control': 'no-cache, max-age=0, must-revalidate',
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
}
const plain = { 'content-type': 'text/plain; charset=utf-8' }

function refuse(request: FastifyRequest, reply: FastifyReply, { status, text }: GitRefusal): FastifyReply {
  if (request.method === 'POST') drain(request.raw, request.raw)
  if (status === 401) void reply.header('www-authenticate', 'Basic realm="Guildhall"')
  return reply.code(status).headers(plain).send(Buffer.from(text))
}
