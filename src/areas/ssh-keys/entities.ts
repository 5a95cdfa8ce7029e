import { Fields, Flag, Id, ListOf, Nullable, Optional, Text, Timestamp } from '../../kernel/endpoint/index.ts'
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
export const SshKeyWithUser = Fields({
  ...fields,
  user: Nullable(BasicUser),
  /** Of deploy keys. */
  deploy_keys_projects: Optional(
    ListOf(
      Fields({
        id: Id(),
        deploy_key_id: Id(),
        project_id: Id(),
        created_at: Timestamp(),
        updated_at: Timestamp(),
        can_push: Flag(),
      }),
    ),
  ),
})

export interface KeyRow {
  readonly id: number
  readonly title: string
  readonly key: string
  readonly usage_type: string
  readonly created_at: Date | string
  readonly expires_at: Date | string | null
  readonly last_used_at: Date | string | null
}

export interface KeyWithUserRow extends KeyRow {
  readonly user: BasicUserRow | null
  /** Null: no deploy key. */
  readonly deploy_keys_projects: readonly unknown[] | null
}

export function keyWithUser(row: KeyWithUserRow, externalUrl: string): unknown {
  return {
    ...row,
    user: row.user === null ? null : basicUser(row.user, externalUrl),
    deploy_keys_projects: row.deploy_keys_projects ?? undefined,
  }
}
