import { badRequest } from '../../kernel/errors/index.ts'
import type { TokenRow } from './entities.ts'
import { rotate } from './rotate.ts'
import type { TokenServices } from './services.ts'
import * as store from './store.ts'

/** Revokes a token of a user; false where he has none with this id. */
export async function revokeTokenOf(
  { db }: Pick<TokenServices, 'db'>,
  userId: number,
  tokenId: number,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const token = await store.lock(tx, tokenId)
    if (token?.user_id !== userId) return false
    if (token.revoked) throw badRequest('Token already revoked')
    await store.revoke(tx, token.id)
    return true
  })
}

/** Rotates a token of a user; undefined where he has none with this id. */
export async function rotateTokenOf(
  services: TokenServices,
  userId: number,
  tokenId: number,
  expiresAt: string | null | undefined,
): Promise<(TokenRow & { token: string }) | undefined> {
  const token = await store.find(services.db.reader, tokenId)
  return token?.user_id === userId ? rotate(services, tokenId, expiresAt) : undefined
}
