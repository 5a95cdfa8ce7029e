import { sql, type RawBuilder } from 'kysely'
import type { Reader, Statements } from '../kernel/db/index.ts'
import type { Loaded, Read } from '../kernel/endpoint/endpoint.ts'
import { loaded } from '../kernel/endpoint/read.ts'
import { digestToken } from '../kernel/lib/secrets.ts'
import { anonymous, type Actor, type TokenFacts, type User } from './actor.ts'
import { isJobLogin, tokenCredentials, type Credentials } from './credentials.ts'
import { deployTokenOf, findDeployToken, type DeployToken } from './deploy-token.ts'
import { isAdmitted } from './policy-server.ts'
import { actorRow } from './visible.ts'
import type { AnyKind, AnySubject, Lookup } from './subjects.ts'

/** A token that was presented; without an id it is one that a user granted an application. */
export interface TokenUse extends TokenFacts {
  readonly id: number | null
  readonly lastUsedAt: Date | null
}

/** All that one statement found out: who asks, what about, with which role, and the rows that were wanted. */
export interface Entrance<Subject, Row> {
  /** Undefined: the credentials are unknown. */
  readonly actor: Actor | undefined
  readonly token: TokenUse | undefined
  readonly subject: Subject | undefined
  readonly visible: boolean
  /** The subject was found through the path of an earlier name. */
  readonly redirect: boolean
  readonly loaded: Loaded<Row>
}

const userColumns = userColumnsWith(sql`u.admin`)

export function userColumnsWith(admin: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    u.id, u.username, u.name, u.email, u.public_email, u.commit_email, u.state, u.kind, ${admin}, u.external, u.can_create_group,
    u.locked_until, u.password_expired, u.accepted_terms,
    case when u.confirmed_at is null then u.created_at end as unconfirmed_since`
}

const inAdminMode = userColumnsWith(sql`u.admin and 'admin_mode' = any (t.scopes) as admin`)

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

function actorSource({ kind, digest, mayBeGranted, adminMode, remembers }: Credentials): RawBuilder<unknown> {
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
        select ${adminMode === true ? userColumnsWith(sql`false as admin`) : userColumns},
          s.id || '.' || u.xmin::text as version, ${noToken}, ${noJob}
        from user_sessions s join users u on u.id = s.user_id
        where s.digest = ${digest} and ${sessionLives(remembers === true)} and (s.enrol_by is null or s.enrol_by > now())`
    case 'user':
      return sql`
        select ${adminMode === true ? userColumnsWith(sql`false as admin`) : userColumns},
          u.xmin::text as version, ${noToken}, ${noJob}
        from users u where u.id = ${Number(digest)}`
    case 'deploy':
    case 'none':
      return sql`select ${userColumns}, ${none} from users u where false`
  }
}

/** Whether a session `s` counts; one that outlives a closed browser does for longer, where the instance allows it. */
export function sessionLives(remembers: boolean): RawBuilder<unknown> {
  return remembers ? sql`greatest(s.expires_at, s.remembered_until) > now()` : sql`s.expires_at > now()`
}

/** The role of the caller, the highest of all memberships that reach the subject, and the custom roles among them. */
export function membershipSource(kind: AnyKind): RawBuilder<unknown> {
  return kind.memberships === null
    ? sql`select 0 as role, null::bigint[] as member_role_ids`
    : sql`
        select coalesce(max(m.access_level), 0) as role,
          array_agg(m.member_role_id) filter (where m.member_role_id is not null) as member_role_ids
        from ${kind.memberships} m where m.user_id = actor.id`
}

function openToJob({ openToJob: open }: AnyKind): RawBuilder<unknown> {
  return open === undefined
    ? sql`false`
    : sql`case when actor.job_id is not null then ${open(sql`actor.job_project_id`)} end`
}

/** One round trip: credentials, subject, role and, where the caller may see the subject, the rows of `read`. */
export async function enter<Subject, Row = never>(
  db: Statements,
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  read?: Read<Row>,
): Promise<Entrance<Subject, Row>> {
  return admitted(db, (await enterMarked<Subject, Row>(db, kind, credentials, lookup, read)).entrance)
}

/** What the policy server keeps from a caller is not there for him. */
async function admitted<Subject, Row>(
  db: Statements,
  entrance: Entrance<Subject, Row>,
): Promise<Entrance<Subject, Row>> {
  const { actor = anonymous, subject, visible } = entrance
  if (subject === undefined || !visible) return entrance
  if (await isAdmitted(db, actor, subject as AnySubject)) return entrance
  return { ...entrance, subject: undefined, visible: false, loaded: { rows: [], total: undefined } }
}

/** As `enter`, with what it takes to remember the entrance; the policy server was not asked yet. */
export async function enterMarked<Subject, Row = never>(
  db: Statements,
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  read?: Read<Row>,
): Promise<Found<Subject, Row>> {
  const found = await enterFrom<Subject, Row>(db, kind, actorSource(credentials), lookup, read)
  return credentials.kind === 'none' ? { ...found, entrance: { ...found.entrance, actor: anonymous } } : found
}

/**
 * As `enter`, for a deploy token, which knows of what lies in its reach and else of what is public; the policy server
 * was not asked yet.
 */
export async function enterByDeployToken<Subject, Row = never>(
  db: Statements,
  kind: AnyKind,
  { digest }: Credentials,
  lookup: Lookup,
  read?: Read<Row>,
): Promise<Entrance<Subject, Row>> {
  const deployToken = digest === undefined ? undefined : await deployTokenOf(db, digest)
  const nobody = actorSource({ kind: 'none', digest: undefined, sudo: undefined })
  const visible =
    deployToken === undefined ? kind.visible : sql`(${kind.visible} or ${reachedBy(deployToken, kind)})`
  const { entrance } = await enterFrom<Subject, Row>(
    db,
    { ...kind, visible } as AnyKind,
    nobody,
    lookup,
    read,
  )
  return { ...entrance, actor: deployToken && { ...anonymous, deployToken } }
}

function reachedBy({ projectId, namespaceId }: DeployToken, { name }: AnyKind): RawBuilder<unknown> {
  const inside = sql`coalesce(${namespaceId}::bigint = any (subject.line), false)`
  return name === 'project'
    ? sql`(subject.id = coalesce(${projectId}::bigint, 0) or ${inside})`
    : name === 'group'
      ? inside
      : sql`false`
}

/**
 * As `enter`, for the user in whose name an administrator acts; his credentials are checked already. The policy server
 * was not asked yet.
 */
export async function enterInNameOf<Subject, Row = never>(
  db: Statements,
  kind: AnyKind,
  user: User,
  lookup: Lookup,
  read?: Read<Row>,
): Promise<Entrance<Subject, Row>> {
  const actor = sql`select ${userColumns}, ${none} from users u where u.id = ${user.id}`
  return (await enterFrom<Subject, Row>(db, kind, actor, lookup, read)).entrance
}

/**
 * A user and a subject as they are now, for work that goes on after the request that caused it: it carries its user
 * and asks again. Undefined when one of them is gone; no rows where the user may not know of the subject.
 */
export async function enterAs<Subject, Row = never>(
  db: Statements,
  kind: AnyKind,
  userId: number,
  subjectId: number,
  read?: Read<Row>,
): Promise<{ readonly actor: Actor; readonly subject: Subject; readonly rows: readonly Row[] } | undefined> {
  const source = sql`select ${userColumns}, ${none} from users u where u.id = ${userId}`
  const lookup = { id: String(subjectId), secretDigest: undefined }
  const {
    actor,
    subject,
    loaded: found,
  } = await admitted(db, (await enterFrom<Subject, Row>(db, kind, source, lookup, read)).entrance)
  return actor === undefined || subject === undefined ? undefined : { actor, subject, rows: found.rows }
}

/** As `enter`, for a user who has shown who he is in another way than by a token: by his SSH key. */
export async function enterById<Subject>(
  db: Statements,
  kind: AnyKind,
  userId: number,
  lookup: Lookup,
): Promise<Entrance<Subject, never>> {
  const source = sql`select ${userColumns}, ${none} from users u where u.id = ${userId}`
  return admitted(db, (await enterFrom<Subject, never>(db, kind, source, lookup)).entrance)
}

/** As `enterById` with rows, for who has shown a token that only reads; in admin mode it makes nobody an administrator. */
export async function enterToRead<Subject, Row = never>(
  db: Statements,
  kind: AnyKind,
  { userId, adminMode }: { readonly userId: number; readonly adminMode: boolean },
  lookup: Lookup,
  read?: Read<Row>,
): Promise<Entrance<Subject, Row>> {
  const user = adminMode ? userColumnsWith(sql`false as admin`) : userColumns
  const source = sql`select ${user}, ${none} from users u where u.id = ${userId}`
  return admitted(db, (await enterFrom<Subject, Row>(db, kind, source, lookup, read)).entrance)
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
function loginSource({ username, password }: Login): RawBuilder<unknown> {
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

/** Whether a password is that of a user, whose digest is given, and is good enough here. */
export type PasswordProof = (userId: number, password: string, digest: string) => Promise<boolean>

/** As `enter`, for HTTP Basic; `deployTokens`: they count, too. */
export async function enterByLogin<Subject>(
  db: Statements,
  kind: AnyKind,
  login: Login,
  lookup: Lookup,
  matches: PasswordProof,
  deployTokens: boolean,
): Promise<Entrance<Subject, never>> {
  if (isJobLogin(login)) {
    return enter(db, kind, { kind: 'job', digest: digestToken(login.password), sudo: undefined }, lookup)
  }
  const { passwordDigest, entrance } = await enterFrom<Subject, never>(db, kind, loginSource(login), lookup)
  if (entrance.token === undefined && deployTokens) {
    const deployToken = await findDeployToken(db, login)
    if (deployToken !== undefined) {
      // By itself it is nobody in particular, also where it bears the name of a user.
      const open = await enter<Subject>(
        db,
        kind,
        { kind: 'none', digest: undefined, sudo: undefined },
        lookup,
      )
      return { ...open, actor: { ...anonymous, deployToken } }
    }
  }
  if (entrance.actor === undefined) return entrance
  const userId = entrance.actor.user?.id
  const proven =
    passwordDigest === undefined ||
    (userId !== undefined && (await matches(userId, login.password, passwordDigest)))
  return proven ? admitted(db, entrance) : { ...entrance, actor: undefined }
}

/**
 * What the answer of a statement hangs on, in SQL: it is another text as soon as the caller's row or token, the
 * subject's row, one of the caller's memberships, the tree or the day is another.
 */
function marksOf({ version }: AnyKind): RawBuilder<unknown> {
  if (version === null) return sql`null`
  return sql`(
    coalesce(actor.version, '') || ' ' || coalesce(${version}, '') || ' '
    || (select coalesce(sum(m.version), 0) from access_marks m where m.user_id in (0, actor.id))
    || ' ' || (now() at time zone 'utc')::date)`
}

function sources(
  kind: AnyKind,
  actor: RawBuilder<unknown>,
  lookup: Lookup,
  membership: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const subject = kind.find?.(lookup) ?? sql`select 0::bigint as id`
  return sql`
    from (select) one
    left join lateral (${actor}) actor on true
    left join lateral (${subject}) subject on true
    left join lateral (${membership}) membership on true`
}

/** An entrance, and what it takes to find out whether it still is as it was. */
export interface Found<Subject, Row> {
  readonly entrance: Entrance<Subject, Row>
  readonly role: number
  /** Null where nothing is remembered. */
  readonly marks: string | null
  readonly passwordDigest: string | undefined
}

async function enterFrom<Subject, Row>(
  db: Statements,
  kind: AnyKind,
  actor: RawBuilder<unknown>,
  lookup: Lookup,
  read?: Read<Row>,
): Promise<Found<Subject, Row>> {
  const [found] = await db.rows(sql<Record<string, unknown>>`
    select to_json(actor) as actor, to_json(subject) as subject, membership.role,
      permissions_of_roles(membership.member_role_ids) as permissions, ${marksOf(kind)} as marks,
      ${openToJob(kind)} as open_to_job,
      coalesce(subject.id is not null and ${kind.visible}, false) as visible,
      ${read === undefined ? sql`null` : sql`case when subject.id is not null and ${kind.visible} then ${read.sql} end`} as loaded
    ${sources(kind, actor, lookup, membershipSource(kind))}`)
  const row = found!
  const role = row['role'] as number
  const actorRow = row['actor'] as Record<string, unknown> | null
  const subjectRow = row['subject'] as Record<string, unknown> | null
  const known = actorRow === null || actorRow['id'] === null ? undefined : actorRow
  return {
    entrance: {
      actor: known && actorFromRow(known),
      token: known === undefined || known['scopes'] === null ? undefined : tokenFromRow(known),
      subject:
        subjectRow === null || subjectRow['id'] === null
          ? undefined
          : (kind.subject(
              { ...subjectRow, open_to_job: row['open_to_job'], permissions: row['permissions'] },
              role,
            ) as Subject),
      visible: row['visible'] as boolean,
      redirect: subjectRow?.['redirect'] === true,
      loaded: loaded<Row>(row['loaded']),
    },
    role,
    marks: row['marks'] as string | null,
    // Only a login by password has one; it is not proven yet.
    passwordDigest: (known?.['password_digest'] as string | null | undefined) ?? undefined,
  }
}

/** When an entrance that was found before still holds. */
interface Mark {
  readonly role: number
  readonly marks: string | null
}

/** The rows of `read` for an entrance found before, and `print` of them; undefined when it is no longer as it was. */
export async function readAgain<Row>(
  db: Statements,
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  mark: Mark,
  read: Read<Row> | undefined,
  print: RawBuilder<unknown> | undefined,
  extent: 'bounded' | undefined,
): Promise<{ readonly loaded: Loaded<Row>; readonly print: string | undefined } | undefined> {
  const rows = read === undefined ? sql`null` : sql`case when current then ${read.sql} end`
  const printed = print === undefined ? sql`` : sql`, case when current then ${print} end as print`
  const columns = sql<{ current: boolean; loaded: unknown; print?: string }>`${rows} as loaded ${printed}`
  const [found] = await db.rows(again(kind, credentials, lookup, mark, columns), extent)
  return found?.current === true ? { loaded: loaded<Row>(found.loaded), print: found.print } : undefined
}

/** Whether an entrance found before is as it was, and what `print` finds is, too. */
export async function isAsBefore(
  db: Statements,
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  mark: Mark & { readonly print: string },
  print: RawBuilder<unknown>,
  extent: 'bounded' | undefined,
): Promise<boolean> {
  const columns = sql<{ same: boolean }>`case when current then ${print} = ${mark.print} end as same`
  const [found] = await db.rows(again(kind, credentials, lookup, mark, columns), extent)
  return found?.same === true
}

function again<Row>(
  kind: AnyKind,
  credentials: Credentials,
  lookup: Lookup,
  { role, marks }: Mark,
  columns: RawBuilder<Row>,
): RawBuilder<Row & { current: boolean }> {
  const membership = sql`select ${role}::int as role`
  // Not to be flattened (offset 0): the marks are made once.
  return sql`
    select current, ${columns} ${sources(kind, actorSource(credentials), lookup, membership)}
    left join lateral (select ${marksOf(kind)} = ${marks} as current offset 0) marked on true`
}

/** Rows for a caller who has passed the gate, about what he has passed it for: what the declaration could not read yet. */
export async function readOf<Row>(
  db: Statements,
  kind: AnyKind,
  { actor, subjectId }: { readonly actor: Actor; readonly subjectId: number | undefined },
  read: Read<Row>,
): Promise<Loaded<Row>> {
  const lookup = {
    id: subjectId === undefined ? undefined : String(subjectId),
    secretDigest: undefined,
  }
  const [found] = await db.rows(sql<{ loaded: unknown }>`
    select ${read.sql} as loaded
    ${sources(kind, sql`select actor.* from ${actorRow(actor)}`, lookup, membershipSource(kind))}`)
  return loaded<Row>(found?.loaded)
}

function actorFromRow(row: Record<string, unknown>): Actor {
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

function tokenFromRow(row: Record<string, unknown>): TokenUse {
  return {
    id: row['token_id'] as number | null,
    revoked: row['revoked'] as boolean,
    expired: row['expired'] as boolean,
    lastUsedAt: row['last_used_at'] === null ? null : new Date(row['last_used_at'] as string),
  }
}

/** A user by id or username, for `sudo`. */
export async function findUser(db: Reader, idOrName: string): Promise<User | undefined> {
  const condition = /^\d{1,15}$/.test(idOrName)
    ? sql`u.id = ${Number(idOrName)}`
    : sql`lower(u.username) = ${idOrName.toLowerCase()}`
  const result = await sql<
    Record<string, unknown>
  >`select ${userColumns} from users u where ${condition}`.execute(db)
  return result.rows[0] === undefined ? undefined : userFromRow(result.rows[0])
}
