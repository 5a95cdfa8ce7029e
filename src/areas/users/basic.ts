import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { Fields, Flag, Id, Nullable, Text } from '../../kernel/endpoint/index.ts'
import { avatarUrl, userAvatar } from '../avatars/index.ts'

/** A user as everything shows one that is somebody's: author, owner, creator. */
export const BasicUser = Fields({
  id: Id(),
  username: Text(),
  public_email: Nullable(Text()),
  name: Text(),
  state: Text({
    description: 'active, blocked, ldap_blocked, deactivated, banned or blocked_pending_approval',
  }),
  locked: Flag({ description: 'Shut out for a while after too many failed sign-ins' }),
  avatar_url: Nullable(Text()),
  web_url: Text(),
})

export interface BasicUserRow {
  readonly id: number
  readonly username: string
  readonly public_email: string | null
  readonly name: string
  readonly state: string
  /** As `userAvatar` tells it. */
  readonly avatar: string | null
  /** Left out where it is not asked for. */
  readonly locked?: boolean
}

export interface BasicUserEntity extends Omit<BasicUserRow, 'avatar'> {
  readonly locked: boolean
  readonly avatar_url: string | null
  readonly web_url: string
}

/** `json_build_object(...)` of a `BasicUserRow`, for a user under this alias; null where there is none. */
export function basicUserJson(alias: string): RawBuilder<BasicUserRow | null> {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${alias}.${name}`)
  return sql`
    case when ${column('id')} is not null then json_build_object('id', ${column('id')},
      'username', ${column('username')}, 'public_email', ${column('public_email')}, 'name', ${column('name')},
      'state', ${column('state')}, 'locked', coalesce(${column('locked_until')} > now(), false),
      'avatar', ${userAvatar(alias)}) end`
}

/** `externalUrl` without a slash at the end. */
export function basicUser(row: BasicUserRow, externalUrl: string): BasicUserEntity {
  return {
    id: row.id,
    username: row.username,
    public_email: row.public_email,
    name: row.name,
    state: row.state,
    locked: row.locked ?? false,
    avatar_url: avatarUrl(row.avatar, externalUrl),
    web_url: `${externalUrl}/${row.username}`,
  }
}
