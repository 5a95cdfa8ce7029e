import { endpoint, group } from '../../access/index.ts'
import { planOf } from '../../kernel/config/index.ts'
import { Fields, Id, ListOf, OneOf, type Endpoint } from '../../kernel/endpoint/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import {
  AccessToken,
  issueToken,
  listTokensOf,
  NewAccessToken,
  newTokenParams,
  revokeTokenOf,
  rotateTokenOf,
  rotationParams,
  tokenFilters,
  tokenScopes,
} from '../tokens/index.ts'
import type { ServiceAccountServices } from './index.ts'
import * as store from './store.ts'

/** Tokens of the service accounts of a group, made and ended by its Owners. */
export function tokenEndpoints(services: ServiceAccountServices): Endpoint[] {
  const { db } = services
  const path = '/groups/:id/service_accounts/:user_id/personal_access_tokens'
  const about = { on: group, may: 'admin_service_account', plan: planOf.service_accounts } as const
  const ids = { user_id: Id(), token_id: Id() }
  const refuses = { 404: 'No such service account or token' }
  const account = {
    record: 'User',
    read: ({ params }: { params: { user_id: number } }) => store.one('group', params.user_id),
  } as const
  const missing = () => notFound('Personal Access Token')

  return [
    endpoint({
      ...about,
      method: 'GET',
      path,
      summary: 'List the tokens of a service account of a group',
      paged: true,
      params: Fields({ user_id: Id(), ...tokenFilters }),
      answers: ListOf(AccessToken),
      refuses: { 404: 'No such service account' },
      read: ({ params, page }) => listTokensOf(store.whichOf(params.user_id), params, page),
      async handle({ group: place, params, rows }) {
        if (rows.length === 0 && !(await store.belongs(db.reader, place.id, params.user_id))) {
          throw notFound('User')
        }
        return rows
      },
    }),

    endpoint({
      ...about,
      ...account,
      method: 'POST',
      path,
      summary: 'Create a token for a service account of a group',
      params: Fields({
        user_id: Id(),
        ...newTokenParams,
        scopes: ListOf(OneOf(tokenScopes, {}), { commaSeparated: true }),
      }),
      answers: NewAccessToken,
      refuses: { 404: 'No such service account' },
      handle: ({ rows: [row], params }) => issueToken(services, row!.id, params),
    }),

    endpoint({
      ...about,
      ...account,
      method: 'DELETE',
      path: `${path}/:token_id`,
      summary: 'Revoke a token of a service account of a group',
      params: Fields(ids),
      answers: null,
      refuses: { ...refuses, 400: 'Revoked already' },
      async handle({ rows: [row], params }) {
        if (!(await revokeTokenOf(services, row!.id, params.token_id))) throw missing()
      },
    }),

    endpoint({
      ...about,
      ...account,
      method: 'POST',
      path: `${path}/:token_id/rotate`,
      summary: 'Replace a token of a service account of a group by a new one',
      description: 'The old token is revoked.',
      status: 200,
      params: Fields({ ...ids, ...rotationParams }),
      answers: NewAccessToken,
      refuses: { ...refuses, 400: 'Revoked already' },
      async handle({ rows: [row], params }) {
        const rotated = await rotateTokenOf(services, row!.id, params.token_id, params.expires_at)
        if (rotated === undefined) throw missing()
        return rotated
      },
    }),
  ]
}
