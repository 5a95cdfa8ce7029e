import type { RawBuilder } from 'kysely'
import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import type { ServiceAccountRow } from './entities.ts'

/** Whose accounts: those of the instance, or those of the group that is the subject. */
export type Whose = 'instance' | 'group'

export interface Order {
  readonly order_by: 'id' | 'username'
  readonly sort: 'asc' | 'desc'
}

const columns = sql`u.id, u.username, u.name, u.email, u.confirmed_at is not null as confirmed`

const from = (whose: Whose): RawBuilder<unknown> => sql`
  from service_accounts s join users u on u.id = s.user_id
  where ${whose === 'instance' ? sql`s.namespace_id is null` : sql`s.namespace_id = subject.id`}`

export function list(whose: Whose, { order_by: by, sort }: Order, input: PageInput): Read<ServiceAccountRow> {
  const direction = sort === 'asc' ? sql`asc` : sql`desc`
  return page({ columns, from: from(whose), order: sql`${sql.ref(`u.${by}`)} ${direction}` }, input)
}

export function one(whose: Whose, id: number): Read<ServiceAccountRow> {
  return rows(sql`select ${columns} ${from(whose)} and u.id = ${id}`)
}

export async function find(db: Reader, id: number): Promise<ServiceAccountRow | undefined> {
  const { rows: found } = await sql<ServiceAccountRow>`
    select ${columns} from users u where u.id = ${id}`.execute(db)
  return found[0]
}

export async function keep(tx: Tx, userId: number, groupId: number | null): Promise<void> {
  await sql`insert into service_accounts (user_id, namespace_id) values (${userId}, ${groupId})`.execute(tx)
}

export interface Change {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly confirmed: boolean
}

export async function change(
  tx: Tx,
  id: number,
  { username, name, email, confirmed }: Change,
): Promise<void> {
  await sql`
    update users set username = ${username}, name = ${name}, email = ${email}, updated_at = now(),
      confirmed_at = case when ${confirmed} then coalesce(confirmed_at, now()) end
    where id = ${id}`
    .execute(tx)
    .catch(onConstraint('users_email', () => invalid({ email: ['has already been taken'] })))
    .catch(onConstraint('users_username', () => invalid({ username: ['has already been taken'] })))
}

/** Whether the group answers for the domain of an address. */
export async function answersFor(db: Reader, groupId: number, email: string): Promise<boolean> {
  const { rows: found } = await sql`
    select from verified_domains d
    where d.namespace_id = ${groupId} and d.domain = split_part(lower(${email}), '@', 2)`.execute(db)
  return found.length > 0
}

/** Tokens `t` of an account of the group that is the subject. */
export function whichOf(userId: number): RawBuilder<boolean> {
  return sql`t.user_id = ${userId} and exists (
    select from service_accounts s where s.user_id = t.user_id and s.namespace_id = subject.id)`
}

export async function belongs(db: Reader, groupId: number, userId: number): Promise<boolean> {
  const { rows: found } = await sql`
    select from service_accounts s where s.user_id = ${userId} and s.namespace_id = ${groupId}`.execute(db)
  return found.length > 0
}
