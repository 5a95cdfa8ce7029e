import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { userAvatar } from '../avatars/index.ts'
import { roleJson } from '../member-roles/index.ts'
import { basicUserJson } from '../users/index.ts'
import { overrideOf, type MemberRow } from './entities.ts'
import { placeColumn, type Place } from './place.ts'
import { pageOfRows, pageOfUsers } from './sets.ts'

/*
 * Reads of memberships, made in the statement that finds out about the caller: `subject` is the group or project.
 */

/** What is shown of the people of a top-level group to its owners only. */
const ownsTop = sql`exists (
  select from members o
  where o.user_id = actor.id and o.namespace_id = subject.line[1] and o.access_level = 50 and o.state = 'active'
    and (o.expires_at is null or o.expires_at > (now() at time zone 'utc')::date))`
const toOwners = sql`
  case when ${ownsTop} and split_part(lower(u.email), '@', 2) in (
    select d.domain from verified_domains d where d.namespace_id = subject.line[1]) then u.email end as email,
  ${ownsTop} and exists (
    select from saml_providers p where p.namespace_id = subject.line[1]) as shows_saml,
  (select json_build_object('extern_uid', i.extern_uid, 'provider', 'group_saml', 'saml_provider_id', p.id)
    from saml_providers p join saml_identities i on i.saml_provider_id = p.id and i.user_id = u.id
    where p.namespace_id = subject.line[1]) as saml_identity`

/** Everybody for others than owners, who are not told of it, and in groups that have no sign-in of their own. */
const knownBySaml = sql`(
  not ${ownsTop} or not exists (select from saml_providers p where p.namespace_id = subject.line[1])
  or exists (
    select from saml_providers p join saml_identities i on i.saml_provider_id = p.id and i.user_id = u.id
    where p.namespace_id = subject.line[1]))`

const shown = sql`${toOwners}, u.id, u.username, u.public_email, u.name, u.state, ${userAvatar('u')} as avatar`

const creator = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select ${basicUserJson('c')} from users c where c.id = ${id}) as created_by`

/** Whether a user takes a seat of the top-level group; guests take none where `freeUpTo` is their level. */
function seat(freeUpTo: number | undefined): RawBuilder<unknown> {
  if (freeUpTo === undefined) return sql``
  return sql`, u.state = 'active' and u.kind = 'human' and exists (
    select from seat_memberships(subject.line[1]) s where s.user_id = u.id and (s.access_level > ${freeUpTo} or s.elevated)) as is_using_seat`
}

const columns = sql`
  ${shown}, m.access_level, m.created_at, m.expires_at, m.state as membership_state, ${overrideOf('m')},
  ${creator(sql`m.created_by_id`)}, ${roleJson(sql`m.member_role_id`)} as member_role`

const unexpired = sql`(m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)`

export interface Filters {
  readonly query?: string | undefined
  readonly user_ids?: readonly number[] | undefined
  readonly skip_users?: readonly number[] | undefined
  readonly state?: 'active' | 'awaiting' | undefined
  /** Members of the place see those of groups that were let in. */
  readonly invitedToMembers: boolean
  /** Only who is known at the sign-in of the group. */
  readonly with_saml_identity?: boolean | undefined
  /** Tell who takes a seat: all above this level. */
  readonly seatsAbove?: number | undefined
}

/** Whether the list has everybody in it. */
function isWhole({
  query,
  user_ids: only,
  skip_users: without,
  state,
  with_saml_identity: saml,
}: Omit<Filters, 'invitedToMembers'>): boolean {
  return (
    searched(query ?? '') === '' &&
    saml !== true &&
    [named(only), without, state].every((filter) => filter === undefined)
  )
}

/** An empty filter of a form keeps everybody. */
function named(users: Filters['user_ids']): Filters['user_ids'] {
  return users?.length === 0 ? undefined : users
}

function userConditions({
  query,
  user_ids: only,
  skip_users: without,
  with_saml_identity: saml,
}: Omit<Filters, 'invitedToMembers'>): RawBuilder<unknown> {
  const text = searched(query ?? '')
  return sql.join(
    [
      sql`true`,
      ...(text === '' ? [] : [matches(text)]),
      ...(named(only) === undefined ? [] : [sql`u.id = any (${only}::bigint[])`]),
      ...(saml === true ? [knownBySaml] : []),
      ...(without === undefined ? [] : [sql`u.id <> all (${without}::bigint[])`]),
    ],
    sql` and `,
  )
}

/** Part of the name or username, or the whole public address. */
function matches(text: string): RawBuilder<unknown> {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  return sql`(u.name ilike ${pattern} or u.username ilike ${pattern}
    or u.public_email is not null and lower(u.public_email) = lower(${text}))`
}

function searched(query: string): string {
  return query.replace(/^@/, '')
}

/** With a query: equal public address, username, name, then the others by name. */
function order({ query }: Pick<Filters, 'query'>, usual: RawBuilder<unknown>): RawBuilder<unknown> {
  const text = searched(query ?? '')
  return text === ''
    ? usual
    : sql`
        case when lower(u.public_email) = lower(${text}) then 0 when lower(u.username) = lower(${text}) then 1
          when lower(u.name) = lower(${text}) then 2 else 3 end, u.name, u.id`
}

/** Rows of the place itself. */
export function direct(
  kind: Place['kind'],
  filters: Omit<Filters, 'invitedToMembers'>,
  input: PageInput,
): Read<MemberRow> {
  const wanted = sql`${columns} ${seat(filters.seatsAbove)}`
  if (kind === 'group' && isWhole(filters)) return pageOfRows(wanted, input)
  return page(
    {
      columns: wanted,
      from: sql`
        from members m join users u on u.id = m.user_id
        where ${placeColumn(kind)} = subject.id and ${unexpired} and ${userConditions(filters)}`,
      order: order(filters, sql`m.id`),
    },
    input,
  )
}

export function oneDirect(kind: Place['kind'], userId: number): Read<MemberRow> {
  return rows(sql`
    select ${columns} from members m join users u on u.id = m.user_id
    where m.user_id = ${userId} and ${placeColumn(kind)} = subject.id and ${unexpired}`)
}

const winnerColumns = sql`
  ${shown}, w.access_level, w.created_at, w.expires_at, w.state as membership_state, w.override,
  ${creator(sql`w.created_by_id`)}, ${roleJson(sql`w.member_role_id`)} as member_role`

/** Everybody who belongs to the place in any way, once. */
export function all(kind: Place['kind'], filters: Filters, input: PageInput): Read<MemberRow> {
  const wanted = sql`${winnerColumns} ${seat(filters.seatsAbove)}`
  if (isWhole(filters)) {
    const onPage = {
      toMembers: filters.invitedToMembers,
      of: sql`source`,
      which: sql`m.user_id in (select chosen.user_id from on_page chosen)`,
    }
    return pageOfUsers(
      {
        sources: sql`select s.namespace_id, s.cap, s.via, s.member_role_id from ${sourcesOf(kind)} s where ${shownVia(filters.invitedToMembers)}`,
        project: projectOf(kind),
        minimalIn: kind === 'group' ? sql`subject.id` : sql`null::bigint`,
        shown: sql`select ${wanted} ${winners(kind, onPage)}`,
      },
      input,
    )
  }
  const which = sql`m.user_id in (select u.id from users u where ${userConditions(filters)})`
  return page(
    {
      columns: wanted,
      from: winners(kind, {
        of: sourcesOf(kind),
        which,
        state: filters.state,
        toMembers: filters.invitedToMembers,
      }),
      order: order(filters, sql`u.id`),
    },
    input,
  )
}

export function oneOfAll(kind: Place['kind'], userId: number, toMembers: boolean): Read<MemberRow> {
  const which = sql`m.user_id = ${userId}`
  return rows(sql`select ${winnerColumns} ${winners(kind, { of: sourcesOf(kind), which, toMembers })}`)
}

function sourcesOf(kind: Place['kind']): RawBuilder<unknown> {
  return sql`membership_sources(subject.line, ${projectOf(kind)})`
}

function projectOf(kind: Place['kind']): RawBuilder<unknown> {
  return kind === 'project' ? sql`subject.id` : sql`null::bigint`
}

/**
 * Members of a group that was let in are shown to its own, to all when it is public, and, with the flag
 * `webui_members_inherited_users`, to members of the place.
 */
const shownVia = (toMembers: boolean) => sql`(
  s.via is null or actor.admin or ${toMembers ? sql`membership.role > 0` : sql`false`} or knows_invited(s.via, actor.id))`

interface Wanted {
  /** Rows of `namespace_id`, `cap` and `via`. */
  readonly of: RawBuilder<unknown>
  /** Picks the users, by a condition on `m`. */
  readonly which: RawBuilder<unknown>
  readonly state?: Filters['state']
  readonly toMembers: boolean
}

/**
 * `from ...` with one row `w` a user `u` (part 2 completions, 1.6): of a group the row with the highest level, and among
 * equals its own; of a project its own row, but always with the highest level.
 */
function winners(kind: Place['kind'], { of, which, state, toMembers }: Wanted): RawBuilder<unknown> {
  const project = projectOf(kind)
  const group = kind === 'group'
  const own = group ? sql`r.via is null and r.namespace_id = subject.id` : sql`r.project_id = subject.id`
  const minimal = group ? sql`or s.via is null and m.namespace_id = subject.id` : sql``
  const inState = state === undefined ? sql`true` : sql`m.state = ${state}`
  const first = group
    ? sql`r.access_level desc, (${own}) desc nulls last`
    : sql`(${own}) desc nulls last, r.access_level desc`
  return sql`
    from (
      select distinct on (r.user_id) r.user_id,
        max(r.access_level) over (partition by r.user_id, r.state) as access_level,
        first_value(r.member_role_id) over (
          partition by r.user_id, r.state order by r.access_level desc, (${own}) desc nulls last, r.member_role_id)
          as member_role_id,
        r.created_at, r.expires_at, r.created_by_id, r.state, r.override
      from (
        select m.user_id, least(m.access_level, s.cap) as access_level, m.namespace_id, m.project_id, s.via,
          m.expires_at, m.created_by_id, m.created_at, m.state, ${overrideOf('m')},
          case when m.access_level <= s.cap then m.member_role_id when s.cap > 0 then s.member_role_id end as member_role_id
        from ${of} s join members m on m.namespace_id = s.namespace_id
        where ${which} and ${unexpired} and (m.access_level > 5 ${minimal}) and ${inState} and ${shownVia(toMembers)}
        union all
        select m.user_id, m.access_level, m.namespace_id, m.project_id, null, m.expires_at, m.created_by_id,
          m.created_at, m.state, null, m.member_role_id
        from members m where m.project_id = ${project} and ${which} and ${unexpired} and ${inState}
      ) r
      order by r.user_id, r.state, ${first}, r.member_role_id, r.expires_at desc nulls first, r.created_at
    ) w join users u on u.id = w.user_id`
}

export interface PendingRow {
  readonly id: number
  readonly name: string | null
  readonly username: string | null
  readonly avatar: string | null
  readonly email: string
  readonly approved: boolean
  readonly invited: boolean
}

/** Users whose memberships wait for a seat of the group that is the subject, each once, and open invitations. */
export function pending(input: PageInput): Read<PendingRow> {
  const inside = (alias: string): RawBuilder<unknown> => sql`
    left join projects p on p.id = ${sql.ref(`${alias}.project_id`)}
    join namespaces n on n.id = coalesce(${sql.ref(`${alias}.namespace_id`)}, p.namespace_id)
      and n.traversal_ids @> array[subject.id]`
  return page(
    {
      columns: sql`w.*`,
      from: sql`
        from (
          select min(m.id) as id, u.name, u.username, ${userAvatar('u')} as avatar, coalesce(u.public_email, '') as email, false as approved,
            false as invited
          from members m ${inside('m')} join users u on u.id = m.user_id
          where m.state = 'awaiting' and ${unexpired} group by u.id
          union all
          select i.id, null, null, null, i.email, true, true from invitations i ${inside('i')}) w`,
      order: sql`w.invited, w.id`,
    },
    input,
  )
}
