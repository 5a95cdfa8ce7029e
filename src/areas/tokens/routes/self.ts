import { endpoint, instance, type Actor } from '../../../access/index.ts'
import {
  Fields,
  OneOf,
  Optional,
  pageParams,
  readPage,
  requireUnmodified,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { badRequest, unauthorized } from '../../../kernel/errors/index.ts'
import { Associations, associations, associationsEntity } from '../associations.ts'
import { AccessToken, NewAccessToken } from '../entities.ts'
import { rotationParams } from '../params.ts'
import { rotate } from '../rotate.ts'
import type { TokenServices } from '../services.ts'
import { tokenScopes } from '../scopes.ts'
import * as store from '../store.ts'

/** The token that the call was made with. */
function presented(actor: Actor): number {
  if (actor.token?.id == null) throw unauthorized()
  return actor.token.id
}

/** What a token may do with itself, whatever its scopes. */
export function selfEndpoints(services: TokenServices): Endpoint[] {
  const { db, externalUrl } = services
  return [
    endpoint({
      method: 'GET',
      path: '/personal_access_tokens/self',
      summary: 'Get the presented access token',
      on: instance,
      may: 'read_instance',
      scopes: tokenScopes,
      answers: AccessToken,
      read: () => store.presented(),
      async handle({ rows: [row] }) {
        if (row === undefined) throw unauthorized()
        return row
      },
    }),

    endpoint({
      method: 'GET',
      path: '/personal_access_tokens/self/associations',
      summary: 'List the groups and projects of which the user of the presented token is a member',
      description: 'In any way; a page of each.',
      on: instance,
      may: 'read_instance',
      params: Fields({
        min_access_level: Optional(OneOf([10, 15, 20, 30, 40, 50], { description: 'Least level' })),
        ...pageParams,
      }),
      answers: Associations,
      read: ({ params }) => associations(params.min_access_level, readPage(params)),
      async handle({ actor, rows: [row] }) {
        presented(actor)
        return associationsEntity(row!, externalUrl())
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/personal_access_tokens/self',
      summary: 'Revoke the presented access token',
      on: instance,
      may: 'read_instance',
      scopes: tokenScopes,
      answers: null,
      refuses: whenChanged,
      async handle({ actor, request }) {
        await db.transaction(async (tx) => {
          const token = await store.lock(tx, presented(actor))
          if (token?.revoked !== false) throw badRequest('Token already revoked')
          requireUnmodified(request, token.created_at)
          await store.revoke(tx, token.id)
        })
      },
    }),

    endpoint({
      method: 'POST',
      path: '/personal_access_tokens/self/rotate',
      summary: 'Replace the presented access token by a new one',
      on: instance,
      may: 'read_instance',
      scopes: ['self_rotate'],
      status: 200,
      params: Fields({
        ...rotationParams,
      }),
      answers: NewAccessToken,
      refuses: { 400: 'Too late an end' },
      async handle({ actor, params }) {
        const rotated = await rotate(services, presented(actor), params.expires_at)
        if (rotated === undefined) throw unauthorized()
        return rotated
      },
    }),
  ]
}
