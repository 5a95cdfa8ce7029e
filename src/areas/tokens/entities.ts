import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'

const fields = {
  id: Id(),
  name: Text(),
  revoked: Flag(),
  created_at: Timestamp(),
  description: Nullable(Text()),
  scopes: ListOf(Text()),
  user_id: Id(),
  last_used_at: Nullable(Timestamp({ description: 'Written at most every ten minutes' })),
  active: Flag({ description: 'Neither revoked nor expired' }),
  expires_at: Nullable(DateOnly({ description: 'The token ends at 00:00 UTC of this day' })),
}

const secret = { token: Text({ description: 'The token itself; shown this once' }) }

export const AccessToken = Fields(fields)
export const NewAccessToken = Fields({ ...fields, ...secret })
export const ImpersonationToken = Fields({ ...fields, impersonation: Flag() })
export const NewImpersonationToken = Fields({ ...fields, impersonation: Flag(), ...secret })

const resource = {
  access_level: Nullable(Int({ description: 'Level of the bot that the token stands for' })),
  resource_type: OneOf('project', 'group'),
  resource_id: Id(),
}

export const ResourceToken = Fields({ ...fields, ...resource })
export const NewResourceToken = Fields({ ...fields, ...resource, ...secret })

/** The columns of a token `t` as they are shown. */
export interface TokenRow {
  readonly id: number
  readonly name: string
  readonly revoked: boolean
  readonly created_at: Date | string
  readonly description: string | null
  readonly scopes: readonly string[]
  readonly user_id: number
  readonly last_used_at: Date | string | null
  readonly active: boolean
  readonly expires_at: string | null
  readonly impersonation: boolean
}
