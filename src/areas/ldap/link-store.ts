import { onConstraint, sql, type Reader, type Writer } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { conflict, notFound } from '../../kernel/errors/index.ts'

export interface Link {
  readonly cn: string | null
  readonly group_access: number
  readonly provider: string
  readonly filter: string | null
  readonly member_role_id: number | null
}

const columns = sql`l.cn, l.group_access, l.provider, l.filter, l.member_role_id`

/** Of the group that is the subject. */
export function list(input: PageInput): Read<Link> {
  return page(
    { columns, from: sql`from ldap_group_links l where l.namespace_id = subject.id`, order: sql`l.id` },
    input,
  )
}

export async function insert(db: Writer, groupId: number, link: Link): Promise<Link> {
  const { rows } = await sql<Link>`
    insert into ldap_group_links as l (namespace_id, provider, cn, filter, group_access, member_role_id)
    values (${groupId}, ${link.provider}, ${link.cn}, ${link.filter}, ${link.group_access}, ${link.member_role_id})
    returning ${columns}`
    .execute(db)
    .catch(onConstraint('ldap_group_links_cn', () => conflict('Cn has already been taken')))
    .catch(onConstraint('ldap_group_links_filter', () => conflict('Filter has already been taken')))
    .catch(onConstraint('ldap_group_links_member_role_id_fkey', () => notFound('Member Role')))
  return rows[0]!
}

/** Removes the first link that all of this is said of; tells whether there was one. */
export async function remove(
  db: Writer,
  groupId: number,
  { provider, cn, filter }: { readonly provider?: string; readonly cn?: string; readonly filter?: string },
): Promise<boolean> {
  const conditions = [
    ...(provider === undefined ? [] : [sql`l.provider = ${provider}`]),
    ...(cn === undefined ? [] : [sql`l.cn = ${cn}`]),
    ...(filter === undefined ? [] : [sql`l.filter = ${filter}`]),
  ]
  const { rows } = await sql`
    delete from ldap_group_links d where d.id = (
      select l.id from ldap_group_links l
      where l.namespace_id = ${groupId} and ${sql.join(conditions, sql` and `)} order by l.id limit 1)
    returning 1`.execute(db)
  return rows.length > 0
}

export interface SyncState {
  readonly state: string
  readonly error: string | null
  readonly started_at: string | null
  readonly finished_at: string | null
}

export async function syncState(db: Reader, groupId: number): Promise<SyncState> {
  const { rows } = await sql<SyncState>`
    select s.state, s.error, s.started_at, s.finished_at from ldap_syncs s where s.namespace_id = ${groupId}`.execute(
    db,
  )
  return rows[0] ?? { state: 'ready', error: null, started_at: null, finished_at: null }
}

/** Sets the word of a hand on a membership that the directory keeps; undefined: there is no direct membership. */
export async function setOverride(
  db: Writer,
  groupId: number,
  userId: number,
  override: boolean,
): Promise<'done' | 'not from a directory' | undefined> {
  const { rows } = await sql<{ ldap: boolean }>`
    update members m set override = case when m.ldap then ${override} else m.override end, updated_at = now()
    where m.namespace_id = ${groupId} and m.user_id = ${userId}
      and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)
    returning m.ldap`.execute(db)
  if (rows[0] === undefined) return undefined
  return rows[0].ldap ? 'done' : 'not from a directory'
}

/** Usernames by id, for explanations. */
export async function usernames(db: Reader, ids: readonly number[]): Promise<Map<number, string>> {
  const { rows } = await sql<{ id: number; username: string }>`
    select u.id, u.username from users u where u.id = any (${[...ids]}::bigint[])`.execute(db)
  return new Map(rows.map(({ id, username }) => [id, username]))
}
