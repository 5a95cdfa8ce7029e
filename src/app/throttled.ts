import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller, PageVisitors, Throttles, UniqueAddresses } from '../access/index.ts'
import { send } from '../kernel/endpoint/index.ts'

/** What has a gate of its own, or is not throttled: the API, health, and the registry with its tokens. */
const elsewhere =
  /^\/(?:api\/|(?:-\/(?:health|liveness|readiness|metrics)|health_check(?:\.\w+)?|v2|jwt)(?:\/|$))/
/** Git has its own, too. What lies below `/-/` of a project is none, whatever it is called. */
const ofGit = /^(?!.*\/-\/).*\.git\//

const hasGateOfItsOwn = (path: string): boolean => elsewhere.test(path) || ofGit.test(path)

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0]!

/** What is no endpoint, and counts as one. */
const ofApi = /^\/oauth\//

/** Counts requests for pages, and those for protected paths, before anything else is done about them. */
export function mountThrottles(server: FastifyInstance, throttles: Throttles, visitors: PageVisitors): void {
  const callerOf = async (request: FastifyRequest): Promise<Caller> => {
    const visitor = await visitors.of(request.headers)
    return visitor === undefined ? { address: request.ip } : { user: visitor.id }
  }

  server.addHook('onRequest', (request, reply, done) => {
    const path = pathOf(request)
    const refusal = throttles.countProtected(request.method, path, request.ip)
    const family = ofApi.test(path) ? 'api' : 'web'
    if (refusal !== undefined) {
      void send(reply, refusal)
    } else if (hasGateOfItsOwn(path) || !throttles.counts(family)) {
      done()
    } else {
      callerOf(request).then((caller) => {
        const tooMany = throttles.count(family, caller)
        if (tooMany === undefined) done()
        else void send(reply, tooMany)
      }, done)
    }
  })
}

/** Keeps from pages who is signed in and comes from too many addresses. */
export function mountUniqueAddresses(
  server: FastifyInstance,
  addresses: UniqueAddresses,
  visitors: PageVisitors,
): void {
  const isKeptOut = async (request: FastifyRequest): Promise<boolean> => {
    const visitor = await visitors.of(request.headers)
    return visitor !== undefined && !(await addresses.admits(visitor.id, request.ip))
  }

  server.addHook('onRequest', (request, reply, done) => {
    if (!addresses.areLimited || hasGateOfItsOwn(pathOf(request))) {
      done()
    } else {
      isKeptOut(request).then((keptOut) => {
        if (!keptOut) done()
        else void reply.code(403).header('retry-after', String(addresses.window)).send()
      }, done)
    }
  })
}
