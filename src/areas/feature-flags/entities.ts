import {
  Fields,
  Flag,
  Hash,
  Id,
  Json,
  ListOf,
  Nullable,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'

export const flagVersion = 'new_version_flag'

const Scope = Fields({ id: Id(), environment_scope: Text() })

const Strategy = Fields({
  id: Id(),
  name: Text(),
  parameters: Hash(Json()),
  scopes: ListOf(Scope),
  user_list: Nullable(Fields({ id: Id(), iid: Id(), name: Text(), user_xids: Text() })),
})

export const FeatureFlag = Fields({
  name: Text(),
  description: Nullable(Text()),
  active: Flag(),
  version: Text(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
  scopes: ListOf(Scope, { description: 'Always empty: strategies have them' }),
  strategies: ListOf(Strategy),
})

export const UserList = Fields({
  name: Text(),
  user_xids: Text({ description: 'What programs call their users, with commas' }),
  id: Id(),
  iid: Id({ description: 'Number within the project' }),
  project_id: Id(),
  created_at: Timestamp(),
  updated_at: Timestamp(),
})

export interface ScopeRow {
  readonly id: number
  readonly environment_scope: string
}

export interface StrategyRow {
  readonly id: number
  readonly name: StrategyName
  readonly parameters: Readonly<Record<string, unknown>>
  readonly scopes: readonly ScopeRow[]
  readonly user_list: {
    readonly id: number
    readonly iid: number
    readonly name: string
    readonly user_xids: string
  } | null
}

export interface FlagRow {
  readonly id: number
  readonly name: string
  readonly description: string | null
  readonly active: boolean
  readonly created_at: string
  readonly updated_at: string
  readonly strategies: readonly StrategyRow[]
}

export interface UserListRow {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly name: string
  readonly user_xids: string
  readonly created_at: string
  readonly updated_at: string
}

export const strategyNames = [
  'default',
  'gradualRolloutUserId',
  'flexibleRollout',
  'userWithId',
  'gitlabUserList',
] as const
export type StrategyName = (typeof strategyNames)[number]

export function featureFlag(row: FlagRow): Record<string, unknown> {
  return { ...row, version: flagVersion, scopes: [] }
}
