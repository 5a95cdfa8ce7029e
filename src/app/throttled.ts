import type { FastifyInstance } from 'fastify'
import type { Throttles } from '../access/index.ts'
import { send } from '../kernel/endpoint/index.ts'

/** What has a gate of its own, or is not throttled: the API, git, health, and the registry with its tokens. */
const elsewhere =
  /^\/(?:api\/|oauth\/|-\/(?:health|liveness|readiness|metrics)\b|v2\b|jwt\b)|\.git\/|\.wiki\.git\//

/** Counts requests for pages, and those for protected paths, before anything else is done about them. */
export function mountThrottles(server: FastifyInstance, throttles: Throttles): void {
  server.addHook('onRequest', (request, reply, done) => {
    const [path = ''] = request.url.split('?', 1)
    const refusal =
      throttles.countProtected(request.method, path, request.ip) ??
      (elsewhere.test(path) ? undefined : throttles.count('web', { address: request.ip }))
    if (refusal === undefined) done()
    else void send(reply, refusal)
  })
}
