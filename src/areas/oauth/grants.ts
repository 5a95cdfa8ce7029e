import { randomBytes, randomUUID } from 'node:crypto'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { digestToken } from '../../kernel/lib/secrets.ts'

/** Seconds that an access token lives. A refresh token lives until it is used. */
export const tokenLife = 7200
/** Seconds between the consent and the token. */
const codeLife = 600
/** Days that it is remembered that a token is used up, so that its second use is noticed. */
const memory = 30

const secretText = (): string => randomBytes(32).toString('hex')

export interface NewGrant {
  readonly applicationId: number
  readonly userId: number
  readonly redirectUri: string
  readonly scopes: readonly string[]
  /** Of the verifier that only who asked for the code knows (PKCE). */
  readonly challenge: string | null
  /** Comes back in the identity token. */
  readonly nonce: string | null
}

/** The code that an application changes for tokens. */
export async function addCode(tx: Tx, grant: NewGrant): Promise<string> {
  const code = secretText()
  await sql`
    insert into oauth_codes (application_id, user_id, digest, line, redirect_uri, scopes, challenge, nonce, expires_at)
    values (${grant.applicationId}, ${grant.userId}, ${digestToken(code)}, ${randomUUID()}, ${grant.redirectUri},
      ${grant.scopes}::text[], ${grant.challenge}, ${grant.nonce}, now() + make_interval(secs => ${codeLife}))`.execute(
    tx,
  )
  return code
}

export interface Code {
  readonly id: number
  readonly application_id: number
  readonly user_id: number
  readonly line: string
  readonly redirect_uri: string
  readonly scopes: readonly string[]
  readonly challenge: string | null
  readonly nonce: string | null
  readonly used: boolean
  readonly expired: boolean
}

/** The code, which nobody else takes until the transaction ends. */
export async function lockCode(tx: Tx, code: string): Promise<Code | undefined> {
  const { rows } = await sql<Code>`
    select c.id, c.application_id, c.user_id, c.line, c.redirect_uri, c.scopes, c.challenge, c.nonce,
      c.used_at is not null as used, c.expires_at <= now() as expired
    from oauth_codes c where c.digest = ${digestToken(code)} for update`.execute(tx)
  return rows[0]
}

export async function useCode(tx: Tx, id: number): Promise<void> {
  await sql`update oauth_codes set used_at = now() where id = ${id}`.execute(tx)
}

export interface NewTokens {
  readonly applicationId: number | null
  readonly userId: number
  readonly scopes: readonly string[]
  /** Of the code or the token that they come of; without one they begin one. */
  readonly line?: string
}

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly scopes: readonly string[]
  readonly created_at: Date
}

/** An access token and a refresh token, of which the digests are kept. Who has them made is at work. */
export async function addTokens(tx: Tx, { applicationId, userId, scopes, line }: NewTokens): Promise<Tokens> {
  const [access, refresh] = [secretText(), secretText()]
  const { rows } = await sql<{ created_at: Date }>`
    insert into oauth_access_tokens (application_id, user_id, digest, refresh_digest, line, scopes, expires_at)
    values (${applicationId}, ${userId}, ${digestToken(access)}, ${digestToken(refresh)}, ${line ?? randomUUID()},
      ${scopes}::text[], now() + make_interval(secs => ${tokenLife}))
    returning created_at`.execute(tx)
  await sql`
    update users u set last_activity_on = (now() at time zone 'utc')::date
    where u.id = ${userId} and u.last_activity_on is distinct from (now() at time zone 'utc')::date`.execute(
    tx,
  )
  return { access_token: access, refresh_token: refresh, scopes, created_at: rows[0]!.created_at }
}

export interface GrantedToken {
  readonly id: number
  readonly application_id: number | null
  readonly user_id: number
  readonly line: string
  readonly scopes: readonly string[]
  readonly revoked: boolean
  readonly expired: boolean
  readonly expires_at: Date
  readonly created_at: Date
}

const tokenColumns = sql`
  t.id, t.application_id, t.user_id, t.line, t.scopes, t.revoked_at is not null as revoked,
  t.expires_at <= now() as expired, t.expires_at, t.created_at`

/** The token of a refresh token, which nobody else takes until the transaction ends. */
export async function lockByRefresh(tx: Tx, refresh: string): Promise<GrantedToken | undefined> {
  const { rows } = await sql<GrantedToken>`
    select ${tokenColumns} from oauth_access_tokens t
    where t.refresh_digest = ${digestToken(refresh)} for update`.execute(tx)
  return rows[0]
}

/** By either of the two secrets; `refresh`: that was the one. */
export async function findToken(
  db: Reader,
  secret: string,
): Promise<
  | (GrantedToken & { readonly refresh: boolean; readonly uid: string | null; readonly username: string })
  | undefined
> {
  const digest = digestToken(secret)
  const { rows } = await sql<GrantedToken & { refresh: boolean; uid: string | null; username: string }>`
    select ${tokenColumns}, t.refresh_digest = ${digest} as refresh, a.uid, u.username
    from oauth_access_tokens t join users u on u.id = t.user_id
    left join oauth_applications a on a.id = t.application_id
    where t.digest = ${digest} or t.refresh_digest = ${digest}`.execute(db)
  return rows[0]
}

/** Both of its secrets. */
export async function revoke(tx: Tx, id: number): Promise<void> {
  await sql`update oauth_access_tokens set revoked_at = now() where id = ${id} and revoked_at is null`.execute(
    tx,
  )
}

/** All that came of one consent: somebody else has one of them. */
export async function revokeLine(tx: Tx, line: string): Promise<void> {
  await sql`
    update oauth_access_tokens set revoked_at = now() where line = ${line}::uuid and revoked_at is null`.execute(
    tx,
  )
}

/** All that a user granted an application. */
export async function revokeGranted(tx: Tx, userId: number, applicationId: number): Promise<void> {
  await sql`
    update oauth_access_tokens set revoked_at = now()
    where user_id = ${userId} and application_id = ${applicationId} and revoked_at is null`.execute(tx)
  await sql`delete from oauth_codes where user_id = ${userId} and application_id = ${applicationId}`.execute(
    tx,
  )
}

/** Whether a user has let an application do all this already. */
export async function hasGranted(
  db: Reader,
  userId: number,
  applicationId: number,
  scopes: readonly string[],
): Promise<boolean> {
  const { rows } = await sql<{ granted: boolean }>`
    select exists (
      select from oauth_access_tokens t where t.user_id = ${userId} and t.application_id = ${applicationId}
        and t.revoked_at is null and t.scopes @> ${scopes}::text[]) as granted`.execute(db)
  return rows[0]!.granted
}

export interface Granted {
  readonly application_id: number
  readonly name: string
  readonly scopes: readonly string[]
  readonly created_at: Date
}

/** The applications that act for a user. */
export async function listGranted(db: Reader, userId: number): Promise<Granted[]> {
  const { rows } = await sql<Granted>`
    select a.id as application_id, a.name, array_agg(distinct scope) as scopes, max(t.created_at) as created_at
    from oauth_access_tokens t join oauth_applications a on a.id = t.application_id
    cross join unnest(t.scopes) scope
    where t.user_id = ${userId} and t.revoked_at is null
    group by a.id order by a.name, a.id limit 200`.execute(db)
  return rows
}

/** What opens nothing any more and is not missed. */
export async function removeEnded(tx: Tx): Promise<void> {
  await sql`delete from oauth_codes where expires_at < now() - interval '1 day'`.execute(tx)
  await sql`delete from oauth_devices where expires_at < now() - interval '1 day'`.execute(tx)
  await sql`
    delete from oauth_access_tokens where revoked_at < now() - make_interval(days => ${memory})`.execute(tx)
}
