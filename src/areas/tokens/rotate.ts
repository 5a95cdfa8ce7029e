import { badRequest } from '../../kernel/errors/index.ts'
import { createAccessToken } from './create.ts'
import type { TokenRow } from './entities.ts'
import * as rules from './rules.ts'
import type { TokenServices } from './services.ts'
import * as store from './store.ts'

/**
 * A new token in the place of an old one, which is revoked with it. Both know the first of their line, so that the use
 * of an old one can end them all (`access/gate.ts`). Undefined when there is no such token; 400 when it is revoked.
 */
export async function rotate(
  { db, settings, plan }: TokenServices,
  id: number,
  expiresAt: string | null | undefined,
): Promise<(TokenRow & { token: string }) | undefined> {
  const now = new Date()
  const usual = rules.dayAfter(now, rules.lifeAfterRotation)
  return db.transaction(async (tx) => {
    const old = await store.lock(tx, id)
    if (old === undefined) return undefined
    const life = rules.lifeOf(settings.values, plan, old.user_kind)
    const end = rules.endOfLife(expiresAt, { now, ...life, usual })
    if (old.revoked) throw badRequest('Token already revoked')
    await store.revoke(tx, old.id)
    const made = await createAccessToken(tx, {
      userId: old.user_id,
      name: old.name,
      description: old.description,
      scopes: old.scopes,
      expiresAt: end,
      prefix: settings.values.personal_access_token_prefix ?? '',
      impersonation: old.impersonation,
      familyId: old.family_id ?? old.id,
    })
    return { ...(await store.find(tx, made.id))!, token: made.secret }
  })
}
