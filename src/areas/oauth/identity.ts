import { sql, type Reader } from '../../kernel/db/index.ts'
import { avatarUrl, userAvatar } from '../avatars/index.ts'
import { tokenLife } from './grants.ts'
import type { OAuthServices } from './services.ts'

interface Row {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly confirmed: boolean
  readonly avatar: string | null
  readonly groups: readonly string[]
}

/** Groups that are told; a token must fit in a header. */
const mostGroups = 200

async function findPerson(db: Reader, userId: number): Promise<Row | undefined> {
  const { rows } = await sql<Row>`
    select u.id, u.username, u.name, u.email, u.confirmed_at is not null as confirmed, ${userAvatar('u')} as avatar,
      array(
        select n.full_path from members m join namespaces n on n.id = m.namespace_id
        where m.user_id = u.id and n.kind = 'group' and m.state = 'active'
          and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)
        order by n.id limit ${mostGroups}) as groups
    from users u where u.id = ${userId}`.execute(db)
  return rows[0]
}

/** What an application may know of somebody, by the scopes that were granted (OpenID Connect Core, 5.1). */
export async function claimsOf(
  { db, externalUrl }: Pick<OAuthServices, 'db' | 'externalUrl'>,
  userId: number,
  scopes: readonly string[],
): Promise<Record<string, unknown>> {
  const person = await findPerson(db.reader, userId)
  if (person === undefined) return {}
  return {
    sub: String(person.id),
    name: person.name,
    nickname: person.username,
    preferred_username: person.username,
    profile: `${externalUrl()}/${person.username}`,
    picture: avatarUrl(person.avatar, externalUrl()),
    groups_direct: person.groups,
    ...(scopes.includes('email') && { email: person.email, email_verified: person.confirmed }),
  }
}

/** Tells an application who its user is, signed. */
export async function identityToken(
  services: OAuthServices,
  asked: { userId: number; scopes: readonly string[]; audience: string; nonce?: string | null | undefined },
): Promise<string> {
  const { sub, ...claims } = await claimsOf(services, asked.userId, asked.scopes)
  return services.identity.signFor(String(sub), {
    audience: asked.audience,
    life: tokenLife,
    claims: { ...claims, ...(asked.nonce != null && { nonce: asked.nonce }) },
  })
}
