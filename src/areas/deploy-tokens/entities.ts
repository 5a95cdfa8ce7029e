import { Fields, Flag, Id, ListOf, Nullable, Text, Timestamp } from '../../kernel/endpoint/index.ts'

const fields = {
  id: Id(),
  name: Text(),
  username: Text(),
  expires_at: Nullable(Timestamp()),
  scopes: ListOf(Text()),
  revoked: Flag(),
  expired: Flag(),
}

export const DeployToken = Fields(fields)
export const NewDeployToken = Fields({
  ...fields,
  token: Text({ description: 'The token itself; shown this once' }),
})

export interface DeployTokenRow {
  readonly id: number
  readonly name: string
  readonly username: string
  readonly expires_at: Date | string | null
  readonly scopes: readonly string[]
  readonly revoked: boolean
  readonly expired: boolean
}
