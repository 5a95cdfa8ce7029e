import type { RawBuilder } from 'kysely'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { TokenRow } from './entities.ts'

const today = sql`(now() at time zone 'utc')::date`
const active = sql`(not t.revoked and (t.expires_at is null or t.expires_at > ${today}))`

export const tokenColumns = sql`
  t.id, t.name, t.revoked, t.created_at, t.description, t.scopes, t.user_id, t.last_used_at, ${active} as active,
  t.expires_at, t.impersonation`

const orders = {
  created_asc: sql`t.created_at, t.id`,
  created_desc: sql`t.created_at desc, t.id desc`,
  expires_asc: sql`t.expires_at nulls last, t.id`,
  expires_desc: sql`t.expires_at desc nulls last, t.id desc`,
  last_used_asc: sql`t.last_used_at nulls last, t.id`,
  last_used_desc: sql`t.last_used_at desc nulls last, t.id desc`,
  name_asc: sql`t.name, t.id`,
  name_desc: sql`t.name desc, t.id desc`,
} as const

export const sortings = Object.keys(orders) as (keyof typeof orders)[]

export interface Filters {
  readonly user_id?: number | undefined
  readonly state?: 'active' | 'inactive' | undefined
  readonly revoked?: boolean | undefined
  readonly search?: string | undefined
  readonly created_after?: Date | undefined
  readonly created_before?: Date | undefined
  readonly last_used_after?: Date | undefined
  readonly last_used_before?: Date | undefined
  readonly expires_after?: string | undefined
  readonly expires_before?: string | undefined
  readonly sort?: keyof typeof orders | undefined
}

/** Of a token `t`. */
export function filterConditions(filters: Filters): RawBuilder<unknown>[] {
  return [
    ...stateCondition(filters.state),
    ...(filters.revoked === undefined ? [] : [sql`t.revoked = ${filters.revoked}`]),
    ...(filters.search === undefined ? [] : [sql`position(lower(${filters.search}) in lower(t.name)) > 0`]),
    ...compared(sql`t.created_at`, filters.created_after, filters.created_before),
    ...compared(sql`t.last_used_at`, filters.last_used_after, filters.last_used_before),
    ...compared(sql`t.expires_at`, filters.expires_after, filters.expires_before),
  ]
}

export function orderOf({ sort }: Filters): RawBuilder<unknown> {
  return sort === undefined ? sql`t.id` : orders[sort]
}

/** The caller's own tokens; for administrators everybody's, those for impersonation too. */
export function list(filters: Filters, input: PageInput): Read<TokenRow> {
  const { user_id: userId } = filters
  const reached = sql`(actor.admin or t.user_id = actor.id and not t.impersonation)`
  return listWhere(userId === undefined ? reached : sql`${reached} and t.user_id = ${userId}`, filters, input)
}

/** Those that something else picks, by a condition on `t`. */
export function listWhere(which: RawBuilder<unknown>, filters: Filters, input: PageInput): Read<TokenRow> {
  const conditions = [which, ...filterConditions(filters)]
  return page(
    {
      columns: tokenColumns,
      from: sql`from personal_access_tokens t where ${sql.join(conditions, sql` and `)}`,
      order: orderOf(filters),
    },
    input,
  )
}

function stateCondition(state: 'active' | 'inactive' | undefined): RawBuilder<unknown>[] {
  return state === undefined ? [] : [state === 'active' ? active : sql`not ${active}`]
}

function compared<T>(
  column: RawBuilder<unknown>,
  after: T | undefined,
  before: T | undefined,
): RawBuilder<unknown>[] {
  return [
    ...(after === undefined ? [] : [sql`${column} >= ${after}`]),
    ...(before === undefined ? [] : [sql`${column} < ${before}`]),
  ]
}

/** A token that the caller may know of. */
export function visible(id: number): Read<TokenRow> {
  return rows(sql`
    select ${tokenColumns} from personal_access_tokens t where t.id = ${id} and (actor.admin or t.user_id = actor.id)`)
}

/** The token that was presented. */
export function presented(): Read<TokenRow> {
  return rows(sql`select ${tokenColumns} from personal_access_tokens t where t.id = actor.token_id`)
}

export function impersonationTokens(
  userId: number,
  state: 'all' | 'active' | 'inactive',
  input: PageInput,
): Read<TokenRow> {
  const conditions = [
    sql`t.user_id = ${userId} and t.impersonation`,
    ...stateCondition(state === 'all' ? undefined : state),
  ]
  return page(
    {
      columns: tokenColumns,
      from: sql`from personal_access_tokens t where ${sql.join(conditions, sql` and `)}`,
      order: sql`t.id`,
    },
    input,
  )
}

export function impersonationToken(userId: number, id: number): Read<TokenRow> {
  return rows(sql`
    select ${tokenColumns} from personal_access_tokens t where t.id = ${id} and t.user_id = ${userId} and t.impersonation`)
}

export async function find(db: Reader, id: number): Promise<TokenRow | undefined> {
  const result =
    await sql<TokenRow>`select ${tokenColumns} from personal_access_tokens t where t.id = ${id}`.execute(db)
  return result.rows[0]
}

export interface LockedToken extends TokenRow {
  /** The first token of the line that this one was rotated from. */
  readonly family_id: number | null
  readonly user_kind: string
}

/** The token, which nobody else changes until the transaction ends. */
export async function lock(tx: Tx, id: number): Promise<LockedToken | undefined> {
  const result = await sql<LockedToken>`
    select ${tokenColumns}, t.family_id, u.kind as user_kind
    from personal_access_tokens t join users u on u.id = t.user_id where t.id = ${id} for update of t`.execute(
    tx,
  )
  return result.rows[0]
}

export async function revoke(tx: Tx, id: number): Promise<void> {
  await tx
    .updateTable('personal_access_tokens')
    .set({ revoked: true })
    .where('personal_access_tokens.id', '=', id)
    .execute()
}

/** Somebody to make a token for. */
export async function owner(
  db: Reader,
  userId: number,
): Promise<{ id: number; admin: boolean; kind: string } | undefined> {
  return db
    .selectFrom('users as u')
    .select(['u.id', 'u.admin', 'u.kind'])
    .where('u.id', '=', userId)
    .executeTakeFirst()
}
