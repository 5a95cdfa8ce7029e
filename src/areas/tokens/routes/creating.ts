import { endpoint, instance, userOf } from '../../../access/index.ts'
import {
  DateOnly,
  Fields,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  type Endpoint,
} from '../../../kernel/endpoint/index.ts'
import { notFound } from '../../../kernel/errors/index.ts'
import { createAccessToken } from '../create.ts'
import { NewAccessToken, type TokenRow } from '../entities.ts'
import * as rules from '../rules.ts'
import { selfIssuedScopes, tokenScopes } from '../scopes.ts'
import type { TokenServices } from '../services.ts'
import * as store from '../store.ts'

export const newTokenParams = {
  name: Text({ blank: false, maxLength: 255 }),
  description: Optional(Nullable(Text({ maxLength: 255 }))),
  expires_at: Optional(
    Nullable(DateOnly({ description: 'In a year, when left out and the instance asks for an end' })),
  ),
}

export interface TokenOrder {
  readonly name: string
  readonly description?: string | null | undefined
  readonly scopes: readonly string[]
  readonly expires_at?: string | null | undefined
}

/** Makes a token for a user; 404 when there is no such user. `usual`: the end when none is asked for. */
export async function issue(
  { db, settings, plan }: TokenServices,
  userId: number,
  order: TokenOrder,
  more: { impersonation?: boolean; usual?: string } = {},
): Promise<TokenRow & { token: string }> {
  const owner = await store.owner(db.reader, userId)
  if (owner === undefined) throw notFound('User')
  const asked = {
    name: order.name,
    description: order.description ?? null,
    scopes: [...new Set(order.scopes)],
  }
  rules.check(asked, owner)
  const expiresAt = rules.endOfLife(order.expires_at, {
    now: new Date(),
    ...rules.lifeOf(settings.values, plan),
    ...(more.usual !== undefined && { usual: more.usual }),
  })
  return db.transaction(async (tx) => {
    const { id, secret } = await createAccessToken(tx, {
      ...asked,
      userId: owner.id,
      expiresAt,
      prefix: settings.values.personal_access_token_prefix ?? '',
      impersonation: more.impersonation ?? false,
    })
    return { ...(await store.find(tx, id))!, token: secret }
  })
}

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
