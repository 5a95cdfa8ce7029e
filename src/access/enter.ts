import type { RawBuilder } from 'kysely'
import { sql, type Statements } from '../kernel/db/index.ts'
import type { Loaded, Read } from '../kernel/endpoint/endpoint.ts'
import { loaded } from '../kernel/endpoint/read.ts'
import { digestToken } from '../kernel/lib/secrets.ts'
import { anonymous, type Actor, type User } from './actor.ts'
import {
  actorFromRow,
  actorSource,
  loginSource,
  tokenFromRow,
  userSource,
  type Login,
  type TokenUse,
} from './caller.ts'
import { isJobLogin, noCredentials, type Credentials } from './credentials.ts'
import { deployTokenOf, findDeployToken, type DeployToken } from './deploy-token.ts'
import { isAdmitted } from './policy-server.ts'
import { actorRow } from './visible.ts'
import type { AnyKind, AnySubject, Lookup } from './subjects.ts'

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
  const nobody = actorSource(noCredentials)
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
  return (await enterFrom<Subject, Row>(db, kind, userSource(user.id), lookup, read)).entrance
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
  const source = userSource(userId)
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
  return admitted(db, (await enterFrom<Subject, never>(db, kind, userSource(userId), lookup)).entrance)
}

/** As `enterById` with rows, for who has shown a token that only reads; in admin mode it makes nobody an administrator. */
export async function enterToRead<Subject, Row = never>(
  db: Statements,
  kind: AnyKind,
  { userId, adminMode }: { readonly userId: number; readonly adminMode: boolean },
  lookup: Lookup,
  read?: Read<Row>,
): Promise<Entrance<Subject, Row>> {
  const source = userSource(userId, adminMode)
  return admitted(db, (await enterFrom<Subject, Row>(db, kind, source, lookup, read)).entrance)
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
      const open = await enter<Subject>(db, kind, noCredentials, lookup)
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
export function marksOf({ version }: AnyKind): RawBuilder<unknown> {
  if (version === null) return sql`null`
  return sql`(
    coalesce(actor.version, '') || ' ' || coalesce(${version}, '') || ' '
    || (select coalesce(sum(m.version), 0) from access_marks m where m.user_id in (0, actor.id))
    || ' ' || (now() at time zone 'utc')::date)`
}

/** Who asks, what about and with which role: what is selected from. */
export function sources(
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
