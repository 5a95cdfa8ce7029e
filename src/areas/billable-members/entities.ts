import { isAdministrator, roleName, type Actor } from '../../access/index.ts'
import {
  DateOnly,
  Fields,
  Flag,
  Id,
  Int,
  Nullable,
  OneOf,
  Text,
  Timestamp,
} from '../../kernel/endpoint/index.ts'
import type { BillableRow, MembershipRow } from './store.ts'
import { avatarUrl } from '../avatars/index.ts'

const ways = ['group_member', 'project_member', 'group_invite', 'project_invite'] as const

export const BillableMember = Fields({
  id: Id(),
  username: Text(),
  name: Text(),
  state: Text(),
  avatar_url: Nullable(Text()),
  web_url: Text(),
  email: Nullable(Text({ description: 'The public address; for administrators the real one' })),
  last_activity_on: Nullable(DateOnly()),
  membership_type: OneOf(ways, {}),
  removable: Flag({ description: 'Whether `DELETE` takes the user out of the group' }),
  created_at: Timestamp({ description: 'Creation of the account' }),
  last_login_at: Nullable(Timestamp()),
  is_last_owner: Flag(),
})

export function billableMember(row: BillableRow, actor: Actor, externalUrl: string) {
  return {
    id: row.id,
    username: row.username,
    name: row.name,
    state: row.state,
    avatar_url: avatarUrl(row.avatar, externalUrl),
    web_url: `${externalUrl}/${row.username}`,
    email: isAdministrator(actor) ? row.email : row.public_email,
    last_activity_on: row.last_activity_on,
    membership_type: ways[row.way - 1],
    removable: row.way <= 2,
    created_at: row.created_at,
    last_login_at: row.last_login_at,
    is_last_owner: row.is_last_owner,
  }
}

export const Membership = Fields({
  id: Id(),
  source_id: Id(),
  source_full_name: Text(),
  source_members_url: Text(),
  created_at: Timestamp(),
  expires_at: Nullable(DateOnly()),
  access_level: Fields({ string_value: Text(), integer_value: Int() }),
})

export function membership(row: MembershipRow, externalUrl: string) {
  const members =
    row.source_kind === 'group'
      ? `${externalUrl}/groups/${row.source_full_path}/-/group_members`
      : `${externalUrl}/${row.source_full_path}/-/project_members`
  return {
    id: row.id,
    source_id: row.source_id,
    source_full_name: row.source_full_name,
    source_members_url: members,
    created_at: row.created_at,
    expires_at: row.expires_at,
    access_level: {
      string_value: row.role_name ?? roleName(row.access_level),
      integer_value: row.access_level,
    },
  }
}
