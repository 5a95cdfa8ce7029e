import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../kernel/db/index.ts'
import type { Actor, TokenFacts, User } from './actor.ts'
import { tokenCredentials, type Credentials } from './credentials.ts'

/* Who asks: the user behind credentials, in SQL, and what such a row says. */

/** A token that was presented; without an id it is one that a user granted an application. */
export interface TokenUse extends TokenFacts {
  readonly id: number | null
  readonly lastUsedAt: Date | null
}

const userColumns = userColumnsWith(sql`u.admin`)

export function userColumnsWith(admin: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    u.id, u.username, u.name, u.email, u.public_email, u.commit_email, u.state, u.kind, ${admin}, u.external, u.can_create_group,
    u.locked_until, u.password_expired, u.accepted_terms,
    case when u.confirmed_at is null then u.created_at end as unconfirmed_since`
}

const inAdminMode = userColumnsWith(sql`u.admin and 'admin_mode' = any (t.scopes) as admin`)
const withoutAdmin = userColumnsWith(sql`false as admin`)

const noToken = sql`
  null::bigint as token_id, null::text[] as scopes, null::boolean as revoked, null::boolean as expired,
  null::timestamptz as last_used_at`
const noJob = sql`null::bigint as job_id, null::bigint as job_project_id, null::bigint as job_pipeline_id`
const none = sql`null::text as version, ${noToken}, ${noJob}`

/** A token of a user's own; it dies at 00:00 UTC of its last day. */
function ownTokenSource(digest: string | undefined, user: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${user}, t.xmin::text || '.' || u.xmin::text as version, t.id as token_id, t.scopes, t.revoked,
      coalesce(t.expires_at <= (now() at time zone 'utc')::date, false) as expired, t.last_used_at, ${noJob}
    from personal_access_tokens t join users u on u.id = t.user_id where t.digest = ${digest}`
}

/** A token that a user granted an application; it is another one to whoever remembers it when its time is over. */
function grantedTokenSource(digest: string | undefined, user: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select ${user}, t.xmin::text || '.' || u.xmin::text || (t.expires_at <= now())::text as version,
      null::bigint as token_id, t.scopes, t.revoked_at is not null as revoked, t.expires_at <= now() as expired,
      null::timestamptz as last_used_at, ${noJob}
    from oauth_access_tokens t join users u on u.id = t.user_id where t.digest = ${digest}`
}

/** The caller, of one row or none. */
export function actorSource({
  kind,
  digest,
  mayBeGranted,
  adminMode,
  remembers,
}: Credentials): RawBuilder<unknown> {
  switch (kind) {
    case 'token': {
      const user = adminMode === true ? inAdminMode : userColumns
      const own = ownTokenSource(digest, user)
      return mayBeGranted === true ? sql`${own} union all ${grantedTokenSource(digest, user)}` : own
    }
    case 'job':
      return sql`
        select ${userColumns}, j.xmin::text || '.' || u.xmin::text as version,
          ${noToken}, j.id as job_id, j.project_id as job_project_id, j.pipeline_id as job_pipeline_id
        from ci_jobs j join users u on u.id = j.user_id
        where j.token_digest = ${digest} and j.status in ('running', 'canceling')`
    case 'session':
      // A user who must have a second factor and has none is let in until his time is up.
      return sql`
        select ${adminMode === true ? withoutAdmin : userColumns},
          s.id || '.' || u.xmin::text as version, ${noToken}, ${noJob}
        from user_sessions s join users u on u.id = s.user_id
        where s.digest = ${digest} and ${sessionLives(remembers === true)} and (s.enrol_by is null or s.enrol_by > now())`
    case 'user':
      return userSource(Number(digest), adminMode)
    case 'deploy':
    case 'none':
      return sql`select ${userColumns}, ${none} from users u where false`
  }
}

/** A user who has shown who he is in another way; in admin mode that makes nobody an administrator. */
export function userSource(id: number, adminMode = false): RawBuilder<unknown> {
  return sql`
    select ${adminMode ? withoutAdmin : userColumns}, u.xmin::text as version, ${noToken}, ${noJob}
    from users u where u.id = ${id}`
}

/** Whether a session `s` counts; one that outlives a closed browser does for longer, where the instance allows it. */
export function sessionLives(remembers: boolean): RawBuilder<unknown> {
  return remembers ? sql`greatest(s.expires_at, s.remembered_until) > now()` : sql`s.expires_at > now()`
}

/**
 * What HTTP Basic carries: a token as the password, under any name; the exact name and secret of a deploy token; or the
 * name or address of a user and his password.
 */
export interface Login {
  readonly username: string
  readonly password: string
}

/** A token wins over the user of that name: a password is asked for only where there is no such token. */
export function loginSource({ username, password }: Login): RawBuilder<unknown> {
  const token = tokenCredentials(password)
  return sql`
    select found.*, null::text as password_digest
    from (${actorSource(token)}) found
    union all
    select ${userColumns}, ${none}, u.password_digest from users u
    where (lower(u.username) = ${username.toLowerCase()} or lower(u.email) = ${username.toLowerCase()})
      and u.kind = 'human' and u.password_digest is not null
      and not exists (select from personal_access_tokens t where t.digest = ${token.digest})
    limit 1`
}

export function actorFromRow(row: Record<string, unknown>): Actor {
  return {
    user: userFromRow(row),
    token:
      row['scopes'] === null
        ? null
        : { id: row['token_id'] as number | null, scopes: row['scopes'] as string[] },
    job:
      row['job_id'] === null
        ? null
        : {
            id: row['job_id'] as number,
            projectId: row['job_project_id'] as number,
            pipelineId: row['job_pipeline_id'] as number,
          },
  }
}

export function userFromRow(row: Record<string, unknown>): User {
  return {
    id: row['id'] as number,
    username: row['username'] as string,
    name: row['name'] as string,
    email: row['email'] as string,
    publicEmail: row['public_email'] as string | null,
    commitEmail: row['commit_email'] as string | null,
    state: row['state'] as string,
    kind: row['kind'] as string,
    admin: row['admin'] as boolean,
    external: row['external'] as boolean,
    canCreateGroup: row['can_create_group'] as boolean,
    lockedUntil: row['locked_until'] === null ? null : new Date(row['locked_until'] as string),
    passwordExpired: row['password_expired'] as boolean,
    unconfirmedSince: row['unconfirmed_since'] === null ? null : new Date(row['unconfirmed_since'] as string),
    acceptedTerms: row['accepted_terms'] as string | null,
  }
}

export function tokenFromRow(row: Record<string, unknown>): TokenUse {
  return {
    id: row['token_id'] as number | null,
    revoked: row['revoked'] as boolean,
    expired: row['expired'] as boolean,
    lastUsedAt: row['last_used_at'] === null ? null : new Date(row['last_used_at'] as string),
  }
}

/** The condition on `users u` that means one user, by id or username: digits alone are an id. */
export function userCalled(idOrName: string | number): RawBuilder<boolean> {
  const text = String(idOrName)
  return /^\d{1,15}$/.test(text)
    ? sql`u.id = ${Number(text)}`
    : sql`lower(u.username) = ${text.toLowerCase()}`
}

/** A user by id or username. */
export async function findUser(db: Reader, idOrName: string | number): Promise<User | undefined> {
  const result = await sql<
    Record<string, unknown>
  >`select ${userColumns} from users u where ${userCalled(idOrName)}`.execute(db)
  return result.rows[0] === undefined ? undefined : userFromRow(result.rows[0])
}
