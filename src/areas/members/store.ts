import type { RawBuilder } from 'kysely'
import { isLastOwner } from '../../access/index.ts'
import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { notFound } from '../../kernel/errors/index.ts'
import { userAvatar } from '../avatars/index.ts'
import { basicUserJson } from '../users/index.ts'
import { overrideOf, type MemberRow } from './entities.ts'
import type { MembershipEvent } from './news.ts'
import { placeColumn, type Place } from './place.ts'
import { roleJson } from '../member-roles/index.ts'
import type { Candidate, Held, Wish } from './rules.ts'

const today = sql`(now() at time zone 'utc')::date`
const unexpired = (alias: string): RawBuilder<unknown> =>
  sql`(${sql.ref(`${alias}.expires_at`)} is null or ${sql.ref(`${alias}.expires_at`)} > ${today})`

/** Nobody may change the membership `m`: the last owner of a group, the holder of a personal project. */
function fixed({ kind, line }: Place): RawBuilder<boolean> {
  return kind === 'group'
    ? isLastOwner(sql`${line}::bigint[]`)
    : sql`exists (
        select from namespaces n
        where n.id = any (${line}::bigint[]) and n.kind = 'user' and n.owner_id = m.user_id)`
}

/** Whom a call names: ids, or names in any letter case. */
export type Named = { readonly ids: readonly number[] } | { readonly usernames: readonly string[] }

/** The users that there are of those named, with what they have here and above. */
export async function candidates(db: Reader, place: Place, named: Named): Promise<Candidate[]> {
  const condition =
    'ids' in named
      ? sql`u.id = any (${named.ids}::bigint[])`
      : sql`lower(u.username) in (select lower(name) from unnest(${named.usernames}::text[]) name)`
  const result = await sql<Candidate>`
    select u.id, u.username, u.kind,
      (select json_build_object('access_level', m.access_level, 'member_role_id', m.member_role_id,
          'expires_at', m.expires_at, 'fixed', ${fixed(place)} or (m.ldap and not m.override)) from members m
        where m.user_id = u.id and ${placeColumn(place.kind)} = ${place.id} and ${unexpired('m')}) as direct,
      (select json_build_object('access_level', m.access_level, 'group', n.name)
        from members m join namespaces n on n.id = m.namespace_id
        where m.user_id = u.id and m.namespace_id = any (${place.above}::bigint[]) and ${unexpired('m')}
        order by m.access_level desc, m.id limit 1) as inherited
    from users u where ${condition} order by u.id`.execute(db)
  return result.rows
}

/** A direct membership that is to be had elsewhere, too. */
export interface Newcomer extends Held {
  readonly user_id: number
  readonly expires_at: string | null
}

/** The direct members of another project who are none of this place. */
export async function newcomersFrom(db: Reader, place: Place, projectId: number): Promise<Newcomer[]> {
  const { rows } = await sql<Newcomer>`
    select m.user_id, m.access_level, m.member_role_id, m.expires_at from members m
    where m.project_id = ${projectId} and m.state = 'active' and ${unexpired('m')} and not exists (
      select from members own
      where own.user_id = m.user_id and ${placeColumn(place.kind, 'own')} = ${place.id} and ${unexpired('own')})
    order by m.id`.execute(db)
  return rows
}

const shown = sql`
  u.id, u.username, u.public_email, u.name, u.state, ${userAvatar('u')} as avatar, m.access_level, m.created_at, m.expires_at,
  m.state as membership_state, ${overrideOf('m')},
  (select ${basicUserJson('c')} from users c where c.id = m.created_by_id) as created_by,
  ${roleJson(sql`m.member_role_id`)} as member_role`

/**
 * Makes users members, in one statement. Who is one already keeps what he has unless `replace` is set; a membership
 * that has expired counts for nothing. Gives the rows that were written.
 */
export async function put(
  tx: Tx,
  place: Place,
  userIds: readonly number[],
  {
    accessLevel,
    expiresAt,
    memberRole,
    createdById,
    replace,
  }: Wish & { createdById: number; replace: boolean },
): Promise<MemberRow[]> {
  const column = sql.raw(place.kind === 'group' ? 'namespace_id' : 'project_id')
  const result = await sql<MemberRow>`
    with m as (
      insert into members as old (user_id, ${column}, access_level, expires_at, created_by_id, member_role_id)
      select unnest(${userIds}::bigint[]), ${place.id}, ${accessLevel}, ${expiresAt}::date, ${createdById},
        ${memberRole?.id ?? null}::bigint
      on conflict (user_id, ${column}) do update set
        access_level = excluded.access_level,
        expires_at = excluded.expires_at,
        expiry_notified_at = null,
        member_role_id = case when ${memberRole !== undefined} or old.expires_at <= ${today} then excluded.member_role_id
          else old.member_role_id end,
        state = case when old.expires_at <= ${today} then 'active' else old.state end,
        created_by_id = case when old.expires_at <= ${today} then excluded.created_by_id else old.created_by_id end,
        created_at = case when old.expires_at <= ${today} then now() else old.created_at end,
        updated_at = now()
      where ${replace} or old.expires_at <= ${today}
      returning *),
    -- Who asked to come in has his answer.
    settled as (
      delete from access_requests r using m where r.user_id = m.user_id and r.${column} = ${place.id})
    select ${shown} from m join users u on u.id = m.user_id order by u.id`
    .execute(tx)
    // Deleted in this very moment.
    .catch(onConstraint('members_user_id_fkey', () => notFound('User')))
    .catch(onConstraint('members_member_role_id_fkey', roleGone))
    .catch(onConstraint('members_project_id_fkey', () => notFound('Project')))
    .catch(onConstraint('members_namespace_id_fkey', () => notFound('Group')))
  return result.rows
}

const roleGone = () => notFound('Member Role')

/** Holds still the owners of a group and of those above, until the transaction ends: nobody else changes them. */
export async function lockOwners(tx: Tx, place: Place): Promise<void> {
  if (place.kind === 'project') return
  await sql`
    select from namespaces n where n.id = any (${place.line}::bigint[]) order by n.id for no key update`.execute(
    tx,
  )
}

export interface LockedMember extends Held {
  readonly id: number
  readonly expires_at: string | null
  readonly updated_at: Date
  /** The last owner of the group, or the holder of the personal namespace: nobody changes or removes him. */
  readonly fixed: boolean
  /** A directory says what it is, unless a hand has overridden that. */
  readonly kept: boolean
}

/** The direct membership of a user, which nobody else changes until the transaction ends. */
export async function lockMember(tx: Tx, place: Place, userId: number): Promise<LockedMember | undefined> {
  const result = await sql<LockedMember>`
    select m.id, m.access_level, m.member_role_id, m.expires_at, m.updated_at, ${fixed(place)} as fixed,
      m.ldap and not m.override as kept
    from members m
    where m.user_id = ${userId} and ${placeColumn(place.kind)} = ${place.id} and ${unexpired('m')}
    for update of m`.execute(tx)
  return result.rows[0]
}

export async function change(
  tx: Tx,
  id: number,
  { accessLevel, expiresAt, memberRole }: Wish,
): Promise<MemberRow> {
  const result = await sql<MemberRow>`
    with m as (
      update members set access_level = ${accessLevel}, updated_at = now(), expires_at = ${expiresAt}::date,
        expiry_notified_at = case when expires_at is not distinct from ${expiresAt}::date then expiry_notified_at end,
        member_role_id = ${memberRole === undefined ? sql.ref('member_role_id') : (memberRole?.id ?? null)}
      where id = ${id} returning *)
    select ${shown} from m join users u on u.id = m.user_id`
    .execute(tx)
    .catch(onConstraint('members_member_role_id_fkey', roleGone))
  return result.rows[0]!
}

/** A direct membership as answers show it. */
export async function memberRow(db: Reader, place: Place, userId: number): Promise<MemberRow | undefined> {
  const { rows } = await sql<MemberRow>`
    select ${shown} from members m join users u on u.id = m.user_id
    where ${placeColumn(place.kind)} = ${place.id} and m.user_id = ${userId}`.execute(db)
  return rows[0]
}

const goneColumns = sql`
  m.user_id as "memberId", m.namespace_id as "namespaceId", m.project_id as "projectId",
  m.access_level as "accessLevel", m.expires_at as "expiresAt"`

/** A membership that was removed, as its news tell of it. */
export type Gone = Omit<MembershipEvent, 'action' | 'before'>

export async function remove(tx: Tx, id: number): Promise<Gone[]> {
  const { rows } = await sql<Gone>`delete from members m where m.id = ${id} returning ${goneColumns}`.execute(
    tx,
  )
  return rows
}

/** Removes the direct memberships of a user in all that lies below a group. */
export async function removeBelow(tx: Tx, groupId: number, userId: number): Promise<Gone[]> {
  const { rows } = await sql<Gone>`
    delete from members m
    where m.user_id = ${userId} and m.id in (
      select b.id from members b left join projects p on p.id = b.project_id
      join namespaces n on n.id = coalesce(b.namespace_id, p.namespace_id)
      where b.user_id = ${userId} and n.traversal_ids @> array[${groupId}::bigint]
        and b.namespace_id is distinct from ${groupId})
    returning ${goneColumns}`.execute(tx)
  return rows
}

/** Takes back an open request to come in; tells whether there was one. */
export async function removeRequest(tx: Tx, place: Place, userId: number): Promise<boolean> {
  const { rows } = await sql`
    delete from access_requests r
    where r.user_id = ${userId} and ${placeColumn(place.kind, 'r')} = ${place.id} returning 1`.execute(tx)
  return rows.length > 0
}

/** The open invitations that a user has sent, in a project or in a group and all that lies below. */
export async function removeInvitationsOf(tx: Tx, place: Place, userId: number): Promise<void> {
  const inside =
    place.kind === 'project'
      ? sql`i.project_id = ${place.id}`
      : sql`exists (
          select from namespaces n left join projects p on p.id = i.project_id
          where n.id = coalesce(i.namespace_id, p.namespace_id) and n.traversal_ids @> array[${place.id}::bigint])`
  await sql`delete from invitations i where i.created_by_id = ${userId} and ${inside}`.execute(tx)
}

/** Whether the group of a project keeps its projects from having members of their own. */
export async function isLocked(db: Reader, { kind, line }: Place): Promise<boolean> {
  if (kind === 'group') return false
  const result = await sql<{ locked: boolean }>`
    select coalesce((n.settings ->> 'membership_lock')::boolean, false) as locked
    from namespaces n where n.id = ${line.at(-1) ?? null}`.execute(db)
  return result.rows[0]?.locked === true
}

/** Deletes memberships whose day has come, so many at most. A group keeps the row of its last owner. */
export async function removeExpired(tx: Tx, most: number): Promise<Gone[]> {
  const line = sql`(select n.traversal_ids from namespaces n where n.id = m.namespace_id)`
  const { rows } = await sql<Gone>`
    delete from members m
    where m.id in (
      select m.id from members m
      where m.expires_at <= ${today} and (m.namespace_id is null or not ${isLastOwner(line)}) limit ${most})
    returning ${goneColumns}`.execute(tx)
  return rows
}

/**
 * Gives the state to all direct memberships of a user in a group and all that lies below, and tells how many had
 * another one.
 */
export async function setState(
  tx: Tx,
  groupId: number,
  userId: number,
  state: 'active' | 'awaiting',
): Promise<number> {
  const { rows } = await sql`
    update members m set state = ${state}, updated_at = now()
    where m.user_id = ${userId} and m.state <> ${state} and ${unexpired('m')} and m.id in (
      select b.id from members b left join projects p on p.id = b.project_id
      join namespaces n on n.id = coalesce(b.namespace_id, p.namespace_id)
      where b.user_id = ${userId} and n.traversal_ids @> array[${groupId}::bigint])
    returning 1`.execute(tx)
  return rows.length
}

/** The user of a direct membership of a group. */
export async function userOfMembership(db: Reader, groupId: number, id: number): Promise<number | undefined> {
  const { rows } = await sql<{ user_id: number }>`
    select m.user_id from members m left join projects p on p.id = m.project_id
    join namespaces n on n.id = coalesce(m.namespace_id, p.namespace_id)
    where m.id = ${id} and n.traversal_ids @> array[${groupId}::bigint] and m.state = 'awaiting'`.execute(db)
  return rows[0]?.user_id
}

/** Makes all memberships that wait active, in a group and all that lies below. */
export async function activateAll(tx: Tx, groupId: number): Promise<void> {
  await sql`
    update members m set state = 'active', updated_at = now()
    where m.state = 'awaiting' and m.id in (
      select b.id from members b left join projects p on p.id = b.project_id
      join namespaces n on n.id = coalesce(b.namespace_id, p.namespace_id)
      where b.state = 'awaiting' and n.traversal_ids @> array[${groupId}::bigint])`.execute(tx)
}
