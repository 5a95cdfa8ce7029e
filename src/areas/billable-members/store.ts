import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { userAvatar } from '../avatars/index.ts'
import { lineName, seatHolders } from '../namespaces/index.ts'

export interface BillableRow {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly state: string
  readonly email: string
  readonly avatar: string | null
  readonly public_email: string | null
  readonly last_activity_on: string | null
  readonly last_login_at: Date | string | null
  readonly created_at: Date | string
  readonly way: 1 | 2 | 3 | 4
  readonly is_last_owner: boolean
}

/** Each with the column that it goes by; equals by id. */
const orders = {
  access_level_asc: sql`b.access_level`,
  access_level_desc: sql`b.access_level desc`,
  last_joined: sql`b.last_joined desc`,
  oldest_joined: sql`b.first_joined`,
  name_asc: sql`lower(u.name)`,
  name_desc: sql`lower(u.name) desc`,
  oldest_sign_in: sql`u.last_sign_in_at nulls last`,
  recent_sign_in: sql`u.last_sign_in_at desc nulls last`,
  last_activity_on_asc: sql`u.last_activity_on nulls first`,
  last_activity_on_desc: sql`u.last_activity_on desc nulls last`,
} as const

export type Order = keyof typeof orders
export const orderNames = Object.keys(orders) as Order[]

export function list(
  { search, sort }: { readonly search?: string | undefined; readonly sort?: Order | undefined },
  above: number,
  input: PageInput,
): Read<BillableRow> {
  const text = search?.replace(/^@/, '') ?? ''
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const found =
    text === ''
      ? sql`true`
      : sql`(u.name ilike ${pattern} or u.username ilike ${pattern} or lower(u.public_email) = lower(${text}))`
  return page(
    {
      columns: sql`
        u.id, u.username, u.name, u.state, ${userAvatar('u')} as avatar, u.email, u.public_email, u.last_activity_on,
        u.last_sign_in_at as last_login_at, u.created_at, b.way,
        b.way = 1 and b.access_level = 50 and not exists (
          select from effective_memberships(subject.line, null) o join users p on p.id = o.user_id
          where o.access_level >= 50 and o.user_id <> u.id and p.kind <> 'project_bot') as is_last_owner`,
      from: sql`from ${seatHolders(sql`subject.id`, above)} where ${found}`,
      order: sort === undefined ? sql`u.id` : sql`${orders[sort]}, u.id`,
    },
    input,
  )
}

/** Whether there is such a user, and whether he takes a seat of a top-level group. */
export async function standing(
  db: Reader,
  groupId: number,
  userId: number,
  above: number,
): Promise<{ readonly exists: boolean; readonly billable: boolean }> {
  const { rows } = await sql<{ exists: boolean; billable: boolean }>`
    select exists (select from users u where u.id = ${userId}) as exists,
      exists (select from ${seatHolders(sql`subject.id`, above, sql`s.user_id = ${userId}`)}) as billable
    from (select ${groupId}::bigint as id) subject`.execute(db)
  return rows[0]!
}

export interface MembershipRow {
  readonly id: number
  readonly source_id: number
  readonly source_kind: 'group' | 'project'
  readonly source_full_name: string
  readonly source_full_path: string
  readonly created_at: Date | string
  readonly expires_at: string | null
  readonly access_level: number
  readonly role_name: string | null
}

const membershipColumns = sql`
  m.id, coalesce(p.id, n.id) as source_id, case when p.id is null then 'group' else 'project' end as source_kind,
  ${lineName('n')} || coalesce(' / ' || p.name, '') as source_full_name,
  coalesce(p.full_path, n.full_path) as source_full_path, m.created_at, m.expires_at, m.access_level,
  (select r.name from member_roles r where r.id = m.member_role_id) as role_name`

const ofUser = (userId: number): RawBuilder<unknown> => sql`
  from members m left join projects p on p.id = m.project_id
  join namespaces n on n.id = coalesce(m.namespace_id, p.namespace_id)
  where m.user_id = ${userId} and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)`

/** The direct memberships of a user in the tree of the group that is the subject. */
export function direct(userId: number, input: PageInput): Read<MembershipRow> {
  return page(
    {
      columns: membershipColumns,
      from: sql`${ofUser(userId)} and n.traversal_ids @> array[subject.id]`,
      order: sql`m.id`,
    },
    input,
  )
}

/** His memberships in the groups that were let into it. */
export function indirect(userId: number, input: PageInput): Read<MembershipRow> {
  return page(
    {
      columns: membershipColumns,
      from: sql`${ofUser(userId)} and m.namespace_id in (
        select s.group_id from group_shares s
        where s.shared_id = subject.id and (s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date))`,
      order: sql`m.id`,
    },
    input,
  )
}
