import { endpoint, instance, userOf } from '../../../access/index.ts'
import { Fields, Id, ListOf, OneOf, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { NewAccessToken } from '../entities.ts'
import { issue } from '../issue.ts'
import { newTokenParams } from '../params.ts'
import * as rules from '../rules.ts'
import { selfIssuedScopes, tokenScopes } from '../scopes.ts'
import type { TokenServices } from '../services.ts'

export function creatingEndpoints(services: TokenServices): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/users/:user_id/personal_access_tokens',
      summary: 'Create a personal access token for a user',
      on: instance,
      may: 'admin_users',
      params: Fields({
        user_id: Id(),
        ...newTokenParams,
        scopes: ListOf(OneOf(tokenScopes, {}), { commaSeparated: true }),
      }),
      answers: NewAccessToken,
      refuses: { 404: 'No such user' },
      handle: ({ params }) => issue(services, params.user_id, params),
    }),

    endpoint({
      method: 'POST',
      path: '/user/personal_access_tokens',
      summary: 'Create a personal access token for oneself',
      description:
        'Of few scopes, since a token that makes others outlives its own end. Without `expires_at` it ends today.',
      on: instance,
      may: 'read_instance',
      params: Fields({
        ...newTokenParams,
        scopes: ListOf(OneOf(selfIssuedScopes, {}), { commaSeparated: true }),
      }),
      answers: NewAccessToken,
      handle: ({ actor, params }) =>
        issue(services, userOf(actor).id, params, { usual: rules.dayAfter(new Date(), 1) }),
    }),
  ]
}
