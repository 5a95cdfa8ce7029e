import type { FastifyInstance } from 'fastify'
import type { Database } from '../../kernel/db/index.ts'
import { send, type Endpoint } from '../../kernel/endpoint/index.ts'
import { nameRequest } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import { pictureAnswer } from '../avatars/index.ts'
import { appearanceEndpoints, isKind } from './routes.ts'
import { findPicture } from './store.ts'

export { pathOf as appearancePath } from './routes.ts'

export interface AppearanceServices {
  readonly db: Database
  readonly settings: Settings
}

/** How the instance shows itself: texts for the sign-in page and mails, and pictures, which everybody may see. */
export function appearance(services: AppearanceServices): {
  endpoints: Endpoint[]
  mount: (server: FastifyInstance) => void
} {
  return {
    endpoints: appearanceEndpoints(services),
    mount(server) {
      server.get<{ Params: { kind: string } }>(
        '/uploads/-/system/appearance/:kind/1/:filename',
        async (request, reply) => {
          nameRequest('picture')
          const { kind } = request.params
          const picture = isKind(kind) ? await findPicture(services.db.reader, kind) : undefined
          if (picture === undefined) {
            reply.callNotFound()
            return reply
          }
          return send(reply, pictureAnswer(picture, request.headers['if-none-match']))
        },
      )
    },
  }
}
