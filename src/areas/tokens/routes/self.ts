import { endpoint, instance, type Actor } from '../../../access/index.ts'
import type { Database } from '../../../kernel/db/index.ts'
import { DateOnly, Fields, Nullable, Optional, type Endpoint } from '../../../kernel/endpoint/index.ts'
import { badRequest, unauthorized } from '../../../kernel/errors/index.ts'
import type { Settings } from '../../../settings/index.ts'
import { AccessToken, NewAccessToken } from '../entities.ts'
import { rotate } from '../rotate.ts'
import { tokenScopes } from '../scopes.ts'
import * as store from '../store.ts'

/** The token that the call was made with. */
function presented(actor: Actor): number {
  if (actor.token === null) throw unauthorized()
  return actor.token.id
}

/** What a token may do with itself, whatever its scopes. */
export function selfEndpoints({ db, settings }: { db: Database; settings: Settings }): Endpoint[] {
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
      method: 'DELETE',
      path: '/personal_access_tokens/self',
      summary: 'Revoke the presented access token',
      on: instance,
      may: 'read_instance',
      scopes: tokenScopes,
      answers: null,
      async handle({ actor }) {
        await db.transaction(async (tx) => {
          const token = await store.lock(tx, presented(actor))
          if (token?.revoked !== false) throw badRequest('Token already revoked')
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
        expires_at: Optional(Nullable(DateOnly({ description: 'In a week, when left out' }))),
      }),
      answers: NewAccessToken,
      refuses: { 400: 'Too late an end' },
      async handle({ actor, params }) {
        const rotated = await rotate(db, presented(actor), {
          expiresAt: params.expires_at,
          endRequired: settings.values.require_personal_access_token_expiry,
          prefix: settings.values.personal_access_token_prefix ?? '',
        })
        if (rotated === undefined) throw unauthorized()
        return rotated
      },
    }),
  ]
}
