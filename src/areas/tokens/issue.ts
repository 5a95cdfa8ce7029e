import { notFound } from '../../kernel/errors/index.ts'
import { createAccessToken } from './create.ts'
import type { TokenRow } from './entities.ts'
import * as rules from './rules.ts'
import type { TokenServices } from './services.ts'
import * as store from './store.ts'

export interface TokenOrder {
  readonly name: string
  readonly description?: string | null | undefined
  readonly scopes: readonly string[]
  readonly expires_at?: string | null | undefined
}

/** Makes a token for a user; 404 when there is no such user. `usual`: the end when none is asked for. */
export async function issue(
  { db, settings, plan }: Pick<TokenServices, 'db' | 'settings' | 'plan'>,
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
    ...rules.lifeOf(settings.values, plan, owner.kind),
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
