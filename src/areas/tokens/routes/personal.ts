import {
  checkScopes,
  endpoint,
  instance,
  isAdministrator,
  userOf,
  type Actor,
} from '../../../access/index.ts'
import {
  Fields,
  Id,
  ListOf,
  Optional,
  requireUnmodified,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { badRequest, notFound, unauthorized, type ApiError } from '../../../kernel/errors/index.ts'
import { AccessToken, NewAccessToken } from '../entities.ts'
import { rotationParams, tokenFilters } from '../params.ts'
import { rotate } from '../rotate.ts'
import type { TokenServices } from '../services.ts'
import * as store from '../store.ts'

/** Whether a token of somebody else exists is for administrators to know. */
function missing(actor: Actor): ApiError {
  return isAdministrator(actor) ? notFound() : unauthorized()
}

export function personalEndpoints(services: TokenServices): Endpoint[] {
  const { db } = services
  return [
    endpoint({
      method: 'GET',
      path: '/personal_access_tokens',
      summary: 'List personal access tokens',
      description: 'One’s own; for administrators those of everybody.',
      on: instance,
      may: 'read_instance',
      paged: true,
      params: Fields({
        user_id: Optional(Id({ description: 'For administrators, or one’s own id' })),
        ...tokenFilters,
      }),
      answers: ListOf(AccessToken),
      refuses: { 401: 'The tokens of somebody else' },
      read: ({ params, page }) => store.list(params, page),
      async handle({ actor, params, rows }) {
        const others = params.user_id !== undefined && params.user_id !== userOf(actor).id
        if (others && !isAdministrator(actor)) throw unauthorized()
        return rows
      },
    }),

    endpoint({
      method: 'GET',
      path: '/personal_access_tokens/:id',
      summary: 'Get a personal access token',
      on: instance,
      may: 'read_instance',
      params: Fields({ id: Id() }),
      answers: AccessToken,
      refuses: { 401: 'Not the caller’s own', 404: 'For administrators: no such token' },
      read: ({ params }) => store.visible(params.id),
      async handle({ actor, rows: [row] }) {
        if (row === undefined) throw missing(actor)
        return row
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/personal_access_tokens/:id',
      summary: 'Revoke a personal access token',
      on: instance,
      may: 'read_instance',
      params: Fields({ id: Id() }),
      answers: null,
      refuses: {
        ...whenChanged,
        400: 'Revoked already',
        401: 'Not the caller’s own',
        404: 'For administrators: no such token',
      },
      async handle({ actor, params, request }) {
        await db.transaction(async (tx) => {
          const token = await store.lock(tx, params.id)
          if (token === undefined || !reaches(actor, token)) throw missing(actor)
          if (token.revoked) throw badRequest('Token already revoked')
          requireUnmodified(request, token.created_at)
          await store.revoke(tx, token.id)
        })
      },
    }),

    endpoint({
      method: 'POST',
      path: '/personal_access_tokens/:id/rotate',
      summary: 'Replace a personal access token by a new one',
      description: 'The old token is revoked. A token with the scope `self_rotate` only may name itself.',
      on: instance,
      may: 'read_instance',
      scopes: ['self_rotate'],
      status: 200,
      params: Fields({
        id: Id(),
        ...rotationParams,
      }),
      answers: NewAccessToken,
      refuses: {
        400: 'Revoked already',
        401: 'Not the caller’s own',
        404: 'For administrators: no such token',
      },
      async handle({ actor, params }) {
        if (actor.token !== null && actor.token.id !== params.id) checkScopes(actor.token.scopes, ['api'])
        const before = await store.find(db.reader, params.id)
        if (before === undefined || !reaches(actor, before)) throw missing(actor)
        const rotated = await rotate(services, params.id, params.expires_at)
        if (rotated === undefined) throw missing(actor)
        return rotated
      },
    }),
  ]
}

function reaches(actor: Actor, token: { readonly user_id: number }): boolean {
  return isAdministrator(actor) || token.user_id === userOf(actor).id
}
