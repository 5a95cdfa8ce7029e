import type { Tx } from '../../kernel/db/index.ts'
import { digestToken, newToken } from '../../kernel/lib/secrets.ts'

export interface NewToken {
  readonly userId: number
  readonly name: string
  readonly description?: string | null
  readonly scopes: readonly string[]
  /** A day; null: no end. */
  readonly expiresAt: string | null
  readonly prefix: string
  /** The token itself where it is given from outside; else one is made. */
  readonly secret?: string
  readonly impersonation?: boolean
  /** The first token of the line that this one was rotated from. */
  readonly familyId?: number
}

/** Keeps the digest only: `secret` is to be shown once. A given secret that is there already stays as it is. */
export async function createAccessToken(tx: Tx, token: NewToken): Promise<{ id: number; secret: string }> {
  const secret = token.secret ?? newToken(token.prefix)
  const digest = digestToken(secret)
  const row = await tx
    .insertInto('personal_access_tokens')
    .values({
      user_id: token.userId,
      name: token.name,
      description: token.description ?? null,
      digest,
      scopes: [...token.scopes],
      expires_at: token.expiresAt,
      impersonation: token.impersonation ?? false,
      family_id: token.familyId ?? null,
    })
    .onConflict((on) => on.column('digest').doUpdateSet({ digest }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id: row.id, secret }
}
