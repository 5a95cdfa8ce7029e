import { createHash } from 'node:crypto'
import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/** Makes pictures of addresses; people upload theirs there once for many sites. */
const service = 'https://www.gravatar.com/avatar/'
const usualSize = 80

/**
 * Where the picture of the user under this alias is, in SQL: a path of ours, an address of the service of pictures, or
 * null. The setting is looked up once in a statement.
 */
export function userAvatar(alias: string): RawBuilder<string | null> {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${alias}.${name}`)
  return sql`coalesce('/uploads/-/system/user/avatar/' || ${column('id')} || '/' || ${column('avatar')},
    case when (select s.value from application_settings s where s.name = 'avatar_service_enabled')
        is distinct from 'false'::jsonb
      then ${sql.lit(service)} || ${column('email_digest')} || ${sql.lit(parameters(usualSize))} end)`
}

/** The same for a project, a group or a topic, which only have pictures of their own. */
export function placeAvatar(
  kind: 'project' | 'group' | 'projects/topic',
  alias: string,
): RawBuilder<string | null> {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${alias}.${name}`)
  return sql`${sql.lit(`/uploads/-/system/${kind}/avatar/`)} || ${column('id')} || '/' || ${column('avatar')}`
}

/** Of a group, or of the user whose personal namespace it is. */
export function namespaceAvatar(alias: string): RawBuilder<string | null> {
  const column = (name: string): RawBuilder<unknown> => sql.ref(`${alias}.${name}`)
  return sql`
    case when ${column('kind')} = 'group' then ${placeAvatar('group', alias)}
      else (select ${userAvatar('face')} from users face where face.id = ${column('owner_id')}) end`
}

/** `externalUrl` without a slash at the end. */
export function avatarUrl(avatar: string | null, externalUrl: string): string | null {
  return avatar?.startsWith('/') === true ? externalUrl + avatar : avatar
}

/** Where the service has a picture of an address; it makes one of those it does not know. */
export function serviceAvatar(email: string, size: number = usualSize): string {
  return service + createHash('sha256').update(email.trim().toLowerCase()).digest('hex') + parameters(size)
}

function parameters(size: number): string {
  return `?s=${size}&d=identicon`
}
