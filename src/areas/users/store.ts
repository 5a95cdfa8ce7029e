import type { RawBuilder } from 'kysely'
import { ownedGroups, Role } from '../../access/index.ts'
import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, wantsKeyset, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { attributesColumn, attributesFilter, type AttributeFilter } from '../custom-attributes/index.ts'
import { userAvatar } from '../avatars/index.ts'
import { basicUserJson } from './basic.ts'
import type { Profile, UserDetailRow, UserRow } from './entities.ts'
import { identityKey } from './identities.ts'
import { emailTaken, lastAdministrator, usernameTaken } from './rules.ts'

/** Who looks at users, as what they see hangs on it: the caller, where there is one. */
const columnsFor = (viewer: RawBuilder<unknown>) => sql`
  u.id, u.username, u.public_email, u.name, u.state, ${userAvatar('u')} as avatar, u.email, u.commit_email, u.kind, u.admin, u.external,
  coalesce(u.locked_until > now(), false) as locked, u.two_factor_at is not null as two_factor_enabled,
  u.last_sign_in_at, u.current_sign_in_at, host(u.current_sign_in_ip) as current_sign_in_ip,
  host(u.last_sign_in_ip) as last_sign_in_ip, u.sign_in_count,
  u.private_profile, u.can_create_group, u.projects_limit, u.profile, u.note, u.confirmed_at, u.last_activity_on,
  u.created_at,
  (select count(*)::int from user_follows f where f.followee_id = u.id) as followers,
  (select count(*)::int from user_follows f where f.follower_id = u.id) as following,
  exists (select from user_follows f where f.follower_id = ${viewer} and f.followee_id = u.id) as is_followed,
  not u.external and u.projects_limit > (
    select count(*) from namespaces n join projects p on p.namespace_id = n.id
    where n.owner_id = u.id and n.kind = 'user') as can_create_project,
  (select n.id from namespaces n where n.owner_id = u.id and n.kind = 'user') as namespace_id,
  (select coalesce(json_agg(json_build_object('provider', i.provider, 'extern_uid', i.extern_uid, 'saml_provider_id', null)
      order by i.id), '[]'::json) from user_identities i where i.user_id = u.id) as identities,
  (select ${basicUserJson('c')} from users c where c.id = u.created_by_id) as created_by`

/** Where there is an `actor` beside `u`. */
const columns = columnsFor(sql`actor.id`)
const columnsForNobody = columnsFor(sql`null::bigint`)

const detail = (base: RawBuilder<unknown>) => sql`
  ${base}, coalesce((select max(m.access_level) from members m where m.user_id = u.id), 0) as highest_role,
  exists (
    select from members m left join member_roles r on r.id = m.member_role_id
    where m.user_id = u.id and m.state = 'active'
      and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)
      and (m.access_level > ${Role.guest}::int or not r.permissions <@ array['read_code'])) as above_guest`

/** A row of a list; with keyset pagination it tells whether another one follows. */
export type ListedUser = UserRow & { readonly more?: boolean }

export interface Filters extends AttributeFilter {
  readonly username?: string | undefined
  readonly search?: string | undefined
  readonly public_email?: string | undefined
  readonly active?: boolean | undefined
  readonly blocked?: boolean | undefined
  readonly external?: boolean | undefined
  readonly humans?: boolean | undefined
  readonly exclude_active?: boolean | undefined
  readonly exclude_external?: boolean | undefined
  readonly exclude_humans?: boolean | undefined
  readonly exclude_internal?: boolean | undefined
  readonly without_project_bots?: boolean | undefined
  readonly admins?: boolean | undefined
  readonly without_projects?: boolean | undefined
  readonly extern_uid?: string | undefined
  readonly provider?: string | undefined
  readonly id_after?: number | undefined
  readonly pagination: string
  readonly two_factor?: 'enabled' | 'disabled' | undefined
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
  readonly order_by: 'id' | 'name' | 'username' | 'created_at' | 'updated_at'
  readonly sort: 'asc' | 'desc'
}

/** Nothing for callers without credentials who name no user. Others than administrators see nobody who is shut out. */
export function list(filters: Filters, input: PageInput): Read<ListedUser> {
  const { search } = filters
  const shown = sql`${columns}${attributesColumn('user', sql`u.id`, filters.with_custom_attributes)}`
  if (wantsKeyset(filters, filters.order_by === 'id' && search === undefined)) {
    const { id_after: after, sort } = filters
    const beyond = after === undefined ? [] : [sort === 'asc' ? sql`u.id > ${after}` : sql`u.id < ${after}`]
    return rows(sql`
      select ${shown}, lead(u.id) over (order by ${order(filters)}) is not null as more
      from users u where ${sql.join([...conditions(filters), ...beyond], sql` and `)}
      order by ${order(filters)} limit ${input.limit + 1}`)
  }
  return page(
    {
      columns: shown,
      from: sql`from users u where ${sql.join(conditions(filters), sql` and `)}`,
      order: search === undefined ? order(filters) : searchOrder(searched(search), order(filters)),
    },
    input,
  )
}

function conditions(filters: Filters): RawBuilder<unknown>[] {
  const {
    username,
    search,
    public_email: publicEmail,
    created_after: after,
    created_before: before,
  } = filters
  return [
    username === undefined ? sql`actor.id is not null` : sql`lower(u.username) = lower(${username})`,
    sql`(actor.admin or u.state not in ('blocked', 'ldap_blocked', 'banned'))`,
    ...(search === undefined ? [] : [matches(searched(search))]),
    ...(publicEmail === undefined ? [] : [sql`lower(u.public_email) = lower(${publicEmail})`]),
    ...flag(filters.active, sql`u.state = 'active' and u.kind <> 'internal'`),
    ...flag(filters.blocked, sql`u.state in ('blocked', 'ldap_blocked')`),
    ...flag(filters.external, sql`u.external`),
    ...flag(filters.humans, sql`u.kind = 'human'`),
    ...flag(filters.exclude_active, sql`u.state <> 'active'`),
    ...flag(filters.exclude_external, sql`not u.external`),
    ...flag(filters.exclude_humans, sql`u.kind <> 'human'`),
    ...flag(filters.exclude_internal, sql`u.kind <> 'internal'`),
    ...flag(filters.without_project_bots, sql`u.kind <> 'project_bot'`),
    // For administrators; of others these are ignored.
    ...flag(filters.admins, sql`(u.admin or actor.admin is not true)`),
    ...(filters.two_factor === undefined
      ? []
      : [
          sql`((u.two_factor_at is not null) = ${filters.two_factor === 'enabled'} or actor.admin is not true)`,
        ]),
    ...(filters.extern_uid === undefined || filters.provider === undefined
      ? []
      : [sql`(${identified(filters.provider, filters.extern_uid)} or actor.admin is not true)`]),
    ...(filters.custom_attributes === undefined
      ? []
      : [attributesFilter('user', sql`u.id`, filters.custom_attributes)]),
    ...flag(filters.without_projects, sql`(not ${inSomeProject} or actor.admin is not true)`),
    ...(after === undefined ? [] : [sql`(u.created_at > ${after} or actor.admin is not true)`]),
    ...(before === undefined ? [] : [sql`(u.created_at < ${before} or actor.admin is not true)`]),
  ]
}

function flag(given: boolean | undefined, condition: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return given === true ? [condition] : []
}

/** Who is known elsewhere by this name. */
function identified(provider: string, uid: string): RawBuilder<unknown> {
  return sql`u.id in (
    select i.user_id from user_identities i where i.provider = ${provider} and i.uid_key = ${identityKey(provider, uid)})`
}

const inSomeProject = sql`exists (
  select from members m left join projects p on p.id = m.project_id
  where m.user_id = u.id and (p.id is not null or exists (
    select from namespaces n join projects q on q.namespace_id = n.id where n.traversal_ids @> array[m.namespace_id])))`

function searched(search: string): string {
  return search.replace(/^@/, '')
}

/** Part of the name or username, or the whole public address; for administrators the whole address. */
function matches(text: string): RawBuilder<unknown> {
  return sql`(${text} <> '' and (position(lower(${text}) in lower(u.name)) > 0 or position(lower(${text}) in lower(u.username)) > 0
    or lower(u.public_email) = lower(${text}) or (actor.admin and lower(u.email) = lower(${text}))))`
}

/** What is equal comes first. Administrators get the order they asked for, also in a search. */
function searchOrder(text: string, asked: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    case when actor.admin then 0 when lower(u.public_email) = lower(${text}) then 0 when lower(u.username) = lower(${text}) then 1
      when lower(u.name) = lower(${text}) then 2 else 3 end,
    case when not coalesce(actor.admin, false) then u.name end, ${asked}`
}

function order({ order_by: by, sort }: Filters): RawBuilder<unknown> {
  const direction = sort === 'asc' ? sql`asc` : sql`desc`
  return by === 'id' ? sql`u.id ${direction}` : sql`${sql.ref(`u.${by}`)} ${direction}, u.id ${direction}`
}

export function one(id: number, withAttributes: boolean | undefined): Read<UserDetailRow> {
  const shown = sql`${detail(columns)}${attributesColumn('user', sql`u.id`, withAttributes)}`
  return rows(sql`select ${shown} from users u where u.id = ${id}`)
}

/** The caller's own row. */
export function own(): Read<UserRow> {
  return rows(sql`select ${columns} from users u where u.id = actor.id`)
}

export async function find(db: Reader, id: number): Promise<UserDetailRow | undefined> {
  const result = await sql<UserDetailRow>`
    select ${detail(columnsForNobody)} from users u where u.id = ${id}`.execute(db)
  return result.rows[0]
}

/** What of a name and address somebody else has: a user, or for the name also a group. */
export async function taken(
  db: Reader,
  { username, email }: { username: string; email: string },
  except: { userId: number; namespaceId: number | null } | null,
): Promise<{ username: boolean; email: boolean }> {
  const result = await sql<{ username: boolean; email: boolean }>`
    select
      exists (select from users u where lower(u.email) = lower(${email}) and u.id is distinct from ${except?.userId ?? null})
        or exists (select from user_emails e where lower(e.email) = lower(${email})) as email,
      exists (select from users u where lower(u.username) = lower(${username})
          and u.id is distinct from ${except?.userId ?? null})
        or exists (select from routes r where r.path_key = lower(${username}) and not r.redirect
          and r.namespace_id is distinct from ${except?.namespaceId ?? null})
        as username`.execute(db)
  return result.rows[0]!
}

export interface LockedUser extends UserRow {
  readonly updated_at: Date
}

/** The user, and the right to change it until the transaction ends. */
export async function lock(tx: Tx, id: number): Promise<LockedUser | undefined> {
  const result = await sql<LockedUser>`
      select ${columnsForNobody}, u.updated_at from users u where u.id = ${id} for no key update of u`.execute(
    tx,
  )
  return result.rows[0]
}

export interface Values {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly public_email: string | null
  readonly commit_email: string | null
  readonly admin: boolean
  readonly external: boolean
  readonly private_profile: boolean
  readonly can_create_group: boolean
  readonly projects_limit: number
  readonly profile: Profile
  readonly note: string | null
  /** Undefined: the password stays. */
  readonly password_digest: string | undefined
  /** Somebody else has chosen the password. */
  readonly password_expired: boolean
}

export async function change(tx: Tx, id: number, values: Values): Promise<void> {
  const { profile, password_digest: digest, password_expired: expired, ...plain } = values
  await tx
    .updateTable('users')
    .set({
      ...plain,
      profile: JSON.stringify(profile),
      ...(digest !== undefined && { password_digest: digest, password_expired: expired }),
      updated_at: sql`now()`,
    })
    .where('users.id', '=', id)
    .execute()
    .catch(onConstraint('users_email', emailTaken))
    .catch(onConstraint('users_username', usernameTaken))
}

/** Another password ends what was opened with the one before. */
export async function endSessions(tx: Tx, id: number): Promise<void> {
  await sql`delete from user_sessions s where s.user_id = ${id}`.execute(tx)
}

/** The personal namespace bears the name of its user. */
export async function nameNamespace(tx: Tx, id: number, name: string): Promise<void> {
  await tx
    .updateTable('namespaces')
    .set({ name, updated_at: sql`now()` })
    .where('namespaces.id', '=', id)
    .execute()
}

export async function setState(tx: Tx, id: number, state: string): Promise<void> {
  await tx
    .updateTable('users')
    .set({ state, updated_at: sql`now()` })
    .where('users.id', '=', id)
    .execute()
}

/** Lets everybody in who waits for approval. */
export async function approveWaiting(tx: Tx): Promise<void> {
  await tx
    .updateTable('users')
    .set({ state: 'active', updated_at: sql`now()` })
    .where('users.state', '=', 'blocked_pending_approval')
    .execute()
}

/** For who keeps an administrator out: one has to be left who can let others in again. Throws the refusal. */
export async function requireAdministrator(tx: Tx): Promise<void> {
  const { rows: left } = await sql`
    select from users u where u.admin and u.state = 'active' and u.kind = 'human' limit 1`.execute(tx)
  if (left.length === 0) throw lastAdministrator()
}

/** Locks the groups that the user owns, and tells which have no other owner, the outer ones first. */
export async function ownedAlone(tx: Tx, id: number): Promise<number[]> {
  await sql`
    select from namespaces n where n.id in (select owned.id from (${ownedGroups(id)}) owned)
    order by n.id for no key update`.execute(tx)
  const { rows: owned } = await ownedGroups(id).execute(tx)
  return owned
    .filter(({ alone }) => alone)
    .map((group) => group.id)
    .sort((a, b) => a - b)
}

export async function passwordOf(db: Reader, id: number): Promise<string | null> {
  const row = await db
    .selectFrom('users as u')
    .select('u.password_digest')
    .where('u.id', '=', id)
    .executeTakeFirst()
  return row?.password_digest ?? null
}

export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('users').where('users.id', '=', id).execute()
}

export interface MembershipRow {
  readonly source_id: number
  readonly source_name: string
  readonly source_type: 'Project' | 'Namespace'
  readonly access_level: number
}

export function memberships(
  id: number,
  type: MembershipRow['source_type'] | undefined,
  input: PageInput,
): Read<MembershipRow> {
  const kind =
    type === undefined
      ? sql`true`
      : type === 'Project'
        ? sql`m.project_id is not null`
        : sql`m.namespace_id is not null`
  return page(
    {
      columns: sql`
        coalesce(m.project_id, m.namespace_id) as source_id, coalesce(p.name, n.name) as source_name,
        case when m.project_id is null then 'Namespace' else 'Project' end as source_type, m.access_level`,
      from: sql`
        from members m left join projects p on p.id = m.project_id left join namespaces n on n.id = m.namespace_id
        where m.user_id = ${id} and ${kind}`,
      order: sql`m.id`,
    },
    input,
  )
}

export async function exists(db: Reader, id: number): Promise<boolean> {
  const row = await db.selectFrom('users as u').select('u.id').where('u.id', '=', id).executeTakeFirst()
  return row !== undefined
}
