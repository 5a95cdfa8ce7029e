import type { FastifyInstance } from 'fastify'
import type { Settings } from '../settings/index.ts'

const writing = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/**
 * What stays open: the settings, where the way out is; sign-in and sign-out; and what only reads: fetching with git, and
 * GraphQL, of which what writes calls the API.
 */
const open =
  /^\/api\/v4\/application\/settings(?:\/|$)|^\/api\/graphql\/?$|^\/users\/sign_(?:in|out)$|^\/oauth\/token$|\/git-upload-pack$/

/** Seconds after which clients are told to try again. */
const retryAfter = '900'

/** While the instance is in maintenance, everything that writes is refused before it is looked at. */
export function mountMaintenance(server: FastifyInstance, settings: Pick<Settings, 'values'>): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { maintenance_mode: on, maintenance_mode_message: text } = settings.values
    const [path = ''] = request.url.split('?', 1)
    if (!on || !writing.has(request.method) || open.test(path)) {
      done()
      return
    }
    void reply
      .code(503)
      .headers({ 'retry-after': retryAfter, 'content-type': 'application/json', connection: 'close' })
      .send(Buffer.from(JSON.stringify({ message: text ?? 'Guildhall is undergoing maintenance' })))
  })
}
