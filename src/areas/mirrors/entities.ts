import {
  Fields,
  Flag,
  Id,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import { readHostKey } from './host-keys.ts'

/** The places that secrets of mirrors are sealed for. */
export const contexts = {
  address: 'push_mirrors.address',
  privateKey: 'push_mirrors.private_key',
  pullAddress: 'pull_mirrors.address',
  importAddress: 'repository_imports.address',
} as const

export const authMethods = ['password', 'ssh_public_key'] as const
export const updateStatuses = ['none', 'scheduled', 'started', 'finished', 'failed', 'to_retry'] as const

export const PushMirror = Fields({
  id: Id(),
  enabled: Flag(),
  url: Text({ description: 'Without the login' }),
  auth_method: OneOf(...authMethods),
  update_status: OneOf(...updateStatuses),
  last_update_at: Nullable(Timestamp()),
  last_update_started_at: Nullable(Timestamp()),
  last_successful_update_at: Nullable(Timestamp()),
  last_error: Nullable(Text()),
  only_protected_branches: Flag(),
  mirror_branch_regex: Optional(Nullable(Text({ description: 'From the plan Premium on' }))),
  keep_divergent_refs: Flag(),
  host_keys: ListOf(Fields({ fingerprint_sha256: Text() })),
})

export interface PushMirrorRow {
  readonly id: number
  readonly shown_address: string
  readonly auth_method: (typeof authMethods)[number]
  readonly public_key: string | null
  readonly host_keys: readonly string[]
  readonly enabled: boolean
  readonly only_protected_branches: boolean
  readonly branch_regex: string | null
  readonly keep_divergent_refs: boolean
  readonly update_status: (typeof updateStatuses)[number]
  readonly last_error: string | null
  readonly last_update_at: Date | string | null
  readonly last_update_started_at: Date | string | null
  readonly last_successful_update_at: Date | string | null
}

export function pushMirror(row: PushMirrorRow, { withPattern }: { readonly withPattern: boolean }) {
  return {
    ...row,
    url: row.shown_address,
    mirror_branch_regex: withPattern ? row.branch_regex : undefined,
    host_keys: row.host_keys.flatMap((line) => {
      const key = readHostKey(line)
      return key === undefined ? [] : [{ fingerprint_sha256: `SHA256:${key.fingerprintSha256}` }]
    }),
  }
}
