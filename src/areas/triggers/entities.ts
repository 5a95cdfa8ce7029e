import type { User } from '../../access/index.ts'
import { Fields, Id, Nullable, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { BasicUser, basicUser, type BasicUserEntity, type BasicUserRow } from '../users/index.ts'

export const Trigger = Fields({
  id: Id(),
  description: Text(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  last_used: Nullable(Timestamp({ description: 'When its newest pipeline was made' })),
  token: Text({ description: 'In full for its owner, for others its first four characters' }),
  expires_at: Nullable(Timestamp()),
  owner: Nullable(BasicUser),
})

/** A row as it is stored: `secret` is the token, sealed; `token_hint` what others see of it. */
export interface TriggerRow {
  readonly id: number
  readonly description: string
  readonly secret: string
  readonly token_hint: string
  readonly expires_at: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly last_used: string | null
  readonly owner: BasicUserRow | null
}

export const tokenPrefix = 'glptt-'

/** The place a token is sealed for. */
export const secretContext = 'ci_triggers.secret'

export function hintOf(token: string): string {
  return token.slice(tokenPrefix.length, tokenPrefix.length + 4)
}

export interface TriggerEntity {
  readonly token: string
  readonly owner: BasicUserEntity | null
}

/** As `reader` sees it. */
export function trigger(
  { secret, token_hint, owner, ...row }: TriggerRow,
  { reader, cipher, externalUrl }: { reader: User; cipher: Cipher; externalUrl: string },
): TriggerEntity & Omit<TriggerRow, 'secret' | 'token_hint' | 'owner'> {
  return {
    ...row,
    token: owner?.id === reader.id ? cipher.open(secret, secretContext) : token_hint,
    owner: owner === null ? null : basicUser(owner, externalUrl),
  }
}
