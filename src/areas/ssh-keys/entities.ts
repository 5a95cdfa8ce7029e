import { Fields, Id, Nullable, Text, Timestamp } from '../../kernel/endpoint/index.ts'
import { basicUser, BasicUser, type BasicUserRow } from '../users/index.ts'

const fields = {
  id: Id(),
  title: Text(),
  created_at: Timestamp(),
  expires_at: Nullable(Timestamp()),
  last_used_at: Nullable(Timestamp()),
  key: Text(),
  usage_type: Text(),
}

export const SshKey = Fields(fields)
export const SshKeyWithUser = Fields({ ...fields, user: Nullable(BasicUser) })

export interface KeyRow {
  readonly id: number
  readonly title: string
  readonly key: string
  readonly usage_type: string
  readonly created_at: Date | string
  readonly expires_at: Date | string | null
  readonly last_used_at: Date | string | null
}

export function keyWithUser(
  row: KeyRow & { readonly user: BasicUserRow | null },
  externalUrl: string,
): unknown {
  return { ...row, user: row.user === null ? null : basicUser(row.user, externalUrl) }
}
