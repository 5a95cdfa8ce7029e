import { endpoint, instance } from '../../../access/index.ts'
import type { Reader } from '../../../kernel/db/index.ts'
import {
  Fields,
  Id,
  ListOf,
  OneOf,
  requireUnmodified,
  whenChanged,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { badRequest, notFound } from '../../../kernel/errors/index.ts'
import { ImpersonationToken, NewImpersonationToken } from '../entities.ts'
import { tokenScopes } from '../scopes.ts'
import type { TokenServices } from '../services.ts'
import * as store from '../store.ts'
import { issue } from '../issue.ts'
import { newTokenParams } from '../params.ts'

const named = { user_id: Id(), impersonation_token_id: Id() }

/** Tokens with which administrators act as somebody. */
export function impersonationEndpoints(services: TokenServices): Endpoint[] {
  const { db } = services
  /** The token is missing, or already the user. */
  const missing = async (from: Reader, userId: number) =>
    notFound((await store.owner(from, userId)) === undefined ? 'User' : 'Impersonation Token')

  return [
    endpoint({
      method: 'GET',
      path: '/users/:user_id/impersonation_tokens',
      summary: 'List the impersonation tokens of a user',
      on: instance,
      may: 'admin_users',
      paged: true,
      params: Fields({ user_id: Id(), state: OneOf(['all', 'active', 'inactive'], { default: 'all' }) }),
      answers: ListOf(ImpersonationToken),
      refuses: { 404: 'No such user' },
      read: ({ params, page }) => store.impersonationTokens(params.user_id, params.state, page),
      async handle({ params, rows }) {
        if (rows.length === 0 && (await store.owner(db.reader, params.user_id)) === undefined)
          throw notFound('User')
        return rows
      },
    }),

    endpoint({
      method: 'POST',
      path: '/users/:user_id/impersonation_tokens',
      summary: 'Create an impersonation token for a user',
      on: instance,
      may: 'admin_users',
      params: Fields({
        user_id: Id(),
        ...newTokenParams,
        scopes: ListOf(OneOf(tokenScopes, {}), { commaSeparated: true, default: ['api'] }),
      }),
      answers: NewImpersonationToken,
      refuses: { 404: 'No such user' },
      handle: ({ params }) => issue(services, params.user_id, params, { impersonation: true }),
    }),

    endpoint({
      method: 'GET',
      path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
      summary: 'Get an impersonation token of a user',
      on: instance,
      may: 'admin_users',
      params: Fields(named),
      answers: ImpersonationToken,
      refuses: { 404: 'No such user or token' },
      read: ({ params }) => store.impersonationToken(params.user_id, params.impersonation_token_id),
      async handle({ params, rows: [row] }) {
        if (row === undefined) throw await missing(db.reader, params.user_id)
        return row
      },
    }),

    endpoint({
      method: 'DELETE',
      path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
      summary: 'Revoke an impersonation token of a user',
      on: instance,
      may: 'admin_users',
      params: Fields(named),
      answers: null,
      refuses: {
        ...whenChanged,
        400: 'Revoked already',
        404: 'No such user or token',
      },
      async handle({ params, request }) {
        await db.transaction(async (tx) => {
          const token = await store.lock(tx, params.impersonation_token_id)
          if (token?.impersonation !== true || token.user_id !== params.user_id)
            throw await missing(tx, params.user_id)
          if (token.revoked) throw badRequest('Token already revoked')
          requireUnmodified(request, token.created_at)
          await store.revoke(tx, token.id)
        })
      },
    }),
  ]
}
