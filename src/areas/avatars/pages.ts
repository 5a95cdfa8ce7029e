import type { FastifyInstance } from 'fastify'
import { send } from '../../kernel/endpoint/index.ts'
import { requestContext } from '../../kernel/log/index.ts'
import type { AvatarServices } from './index.ts'
import { pictureAnswer } from './routes.ts'
import { findPicture } from './store.ts'

interface Named {
  Params: { id: string; filename: string }
}

/**
 * Where `avatar_url` leads to. Pictures of users and topics are for everybody; who sees a project or group decides its
 * endpoint.
 */
export function mountPictures(server: FastifyInstance, { db, externalUrl }: AvatarServices): void {
  for (const [path, owner] of [
    ['user', 'user'],
    ['projects/topic', 'topic'],
  ] as const) {
    server.get<Named>(`/uploads/-/system/${path}/avatar/:id/:filename`, async (request, reply) => {
      named()
      const { id } = request.params
      const picture = /^\d{1,15}$/.test(id) ? await findPicture(db.reader, owner, Number(id)) : undefined
      if (picture === undefined) {
        reply.callNotFound()
        return reply
      }
      return send(reply, pictureAnswer(picture, request.headers['if-none-match']))
    })
  }
  for (const [kind, path] of [
    ['project', 'projects'],
    ['group', 'groups'],
  ] as const) {
    server.get<Named>(`/uploads/-/system/${kind}/avatar/:id/:filename`, async (request, reply) => {
      named()
      const { id } = request.params
      if (!/^\d{1,15}$/.test(id)) {
        reply.callNotFound()
        return reply
      }
      return reply.redirect(`${externalUrl()}/api/v4/${path}/${id}/avatar`, 302)
    })
  }
}

function named(): void {
  const context = requestContext()
  if (context !== undefined) context.endpoint = 'picture'
}
