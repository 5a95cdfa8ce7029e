import { sql, type Database, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, type PageInput, type Read } from '../../kernel/endpoint/index.ts'

export interface Account {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly state: string
  readonly kind: string
  readonly admin: boolean
  readonly password_digest: string | null
  readonly password_expired: boolean
  readonly locked: boolean
  readonly failed_attempts: number
  readonly otp_secret: string | null
  readonly otp_step: number | null
  readonly two_factor: boolean
  readonly two_factor_asked_at: Date | null
  readonly unconfirmed_since: Date | null
  readonly accepted_terms: string | null
}

const columns = sql`
  u.id, u.username, u.name, u.email, u.state, u.kind, u.admin, u.password_digest, u.password_expired,
  coalesce(u.locked_until > now(), false) as locked, u.failed_attempts, u.otp_secret, u.otp_step,
  u.two_factor_at is not null as two_factor, u.two_factor_asked_at,
  case when u.confirmed_at is null then u.created_at end as unconfirmed_since, u.accepted_terms`

/** Somebody by his name or address, as he signs in. */
export async function byLogin(db: Reader, login: string): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select ${columns} from users u
    where (lower(u.username) = lower(${login}) or lower(u.email) = lower(${login})) and u.kind = 'human'
    limit 1`.execute(db)
  return rows[0]
}

export async function byId(
  { reader }: Pick<Database, 'reader'>,
  userId: number,
): Promise<Account | undefined> {
  const { rows } = await sql<Account>`select ${columns} from users u where u.id = ${userId}`.execute(reader)
  return rows[0]
}

/** Whether somebody is known at a provider of identities. */
export async function hasIdentity(db: Reader, userId: number): Promise<boolean> {
  const { rows } = await sql`select from user_identities i where i.user_id = ${userId} limit 1`.execute(db)
  return rows.length > 0
}

/** The account, which nobody else changes until the transaction ends. */
export async function lock(tx: Tx, userId: number): Promise<Account | undefined> {
  const { rows } = await sql<Account>`
    select ${columns} from users u where u.id = ${userId} for no key update`.execute(tx)
  return rows[0]
}

export interface NewSession {
  readonly digest: string
  readonly ip: string
  readonly userAgent: string | undefined
  readonly minutes: number
  /** Until when the user may do without a second factor; null: for ever. */
  readonly enrolBy: Date | null
  /** Null: the session ends with the browser. */
  readonly rememberedDays: number | null
}

export async function open(tx: Tx, userId: number, session: NewSession): Promise<void> {
  await sql`
    insert into user_sessions (user_id, digest, ip, user_agent, expires_at, enrol_by, remembered_until)
    values (${userId}, ${session.digest}, ${session.ip}::inet, ${session.userAgent?.slice(0, 255) ?? null},
      now() + make_interval(mins => ${session.minutes}::int), ${session.enrolBy},
      now() + make_interval(days => ${session.rememberedDays}::int))`.execute(tx)
  // Who was put to rest for being away is back.
  await sql`
    update users set last_sign_in_at = coalesce(current_sign_in_at, now()), last_sign_in_ip = current_sign_in_ip,
      current_sign_in_at = now(), current_sign_in_ip = ${session.ip}::inet, sign_in_count = sign_in_count + 1,
      last_activity_on = (now() at time zone 'utc')::date,
      state = case when state = 'deactivated' then 'active' else state end,
      two_factor_asked_at = case when ${session.enrolBy !== null} then coalesce(two_factor_asked_at, now()) end
    where id = ${userId}`.execute(tx)
}

/** Whether somebody signed in from an address before, at the last times or in a session that goes on; or never at all. */
export async function knowsAddress(tx: Tx, userId: number, ip: string): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select u.sign_in_count = 0 or ${ip}::inet in (u.current_sign_in_ip, u.last_sign_in_ip)
      or exists (select from user_sessions s where s.user_id = u.id and s.ip = ${ip}::inet) as known
    from users u where u.id = ${userId}`.execute(tx)
  return rows[0]?.known === true
}

export interface SessionRow {
  readonly id: number
  readonly ip: string | null
  readonly user_agent: string | null
  readonly created_at: Date | string
  readonly last_seen_at: Date | string
  readonly expires_at: Date | string
}

/** The caller's own. */
export function list(input: PageInput, remembers: boolean): Read<SessionRow> {
  const until = remembers ? sql`greatest(s.expires_at, s.remembered_until)` : sql`s.expires_at`
  return page(
    {
      columns: sql`
        s.id, host(s.ip) as ip, s.user_agent, s.created_at, s.last_seen_at, ${until} as expires_at`,
      from: sql`from user_sessions s where s.user_id = actor.id and ${until} > now()`,
      order: sql`s.id`,
    },
    input,
  )
}

export async function idOf(db: Reader, userId: number, digest: string): Promise<number | undefined> {
  const { rows } = await sql<{ id: number }>`
    select s.id from user_sessions s where s.user_id = ${userId} and s.digest = ${digest}`.execute(db)
  return rows[0]?.id
}

export async function close(tx: Tx, digest: string): Promise<void> {
  await sql`delete from user_sessions s where s.digest = ${digest}`.execute(tx)
}

/** Ends sessions of a user: one, or all but the one with this digest. Tells how many there were. */
export async function end(
  tx: Tx,
  userId: number,
  which: { readonly id: number } | { readonly allBut: string | null },
): Promise<number> {
  const condition = 'id' in which ? sql`s.id = ${which.id}` : sql`s.digest is distinct from ${which.allBut}`
  const { rows } = await sql`
    delete from user_sessions s where s.user_id = ${userId} and ${condition} returning 1`.execute(tx)
  return rows.length
}

export async function removeEnded(tx: Tx): Promise<void> {
  await sql`delete from user_sessions s where greatest(s.expires_at, s.remembered_until) <= now()`.execute(tx)
}

export async function setPassword(tx: Tx, userId: number, digest: string): Promise<void> {
  await sql`
    update users set password_digest = ${digest}, password_expired = false, failed_attempts = 0, updated_at = now()
    where id = ${userId}`.execute(tx)
}

/** Begins to give a user a second factor; what was there and is in use stays so until the new one is confirmed. */
export async function offerSecret(tx: Tx, userId: number, secret: string): Promise<void> {
  await sql`update users set otp_secret = ${secret}, otp_step = null where id = ${userId}`.execute(tx)
}

export async function confirmSecret(
  tx: Tx,
  userId: number,
  step: number,
  codeDigests: readonly string[],
): Promise<void> {
  await sql`
    update users set two_factor_at = now(), otp_step = ${step}, two_factor_asked_at = null where id = ${userId}`.execute(
    tx,
  )
  await sql`update user_sessions s set enrol_by = null where s.user_id = ${userId}`.execute(tx)
  await replaceCodes(tx, userId, codeDigests)
}

export async function noteStep(tx: Tx, userId: number, step: number): Promise<void> {
  await sql`update users set otp_step = ${step} where id = ${userId}`.execute(tx)
}

export async function replaceCodes(tx: Tx, userId: number, digests: readonly string[]): Promise<void> {
  await sql`delete from user_recovery_codes c where c.user_id = ${userId}`.execute(tx)
  await sql`
    insert into user_recovery_codes (user_id, digest) select ${userId}, unnest(${digests}::text[])`.execute(
    tx,
  )
}

/** Takes a recovery code, which works this once; tells whether it was one. */
export async function takeCode(tx: Tx, userId: number, digest: string): Promise<boolean> {
  const { rows } = await sql`
    delete from user_recovery_codes c where c.user_id = ${userId} and c.digest = ${digest} returning 1`.execute(
    tx,
  )
  return rows.length > 0
}

export async function countCodes(db: Reader, userId: number): Promise<number> {
  const { rows } = await sql<{ number: number }>`
    select count(*)::int as number from user_recovery_codes c where c.user_id = ${userId}`.execute(db)
  return rows[0]!.number
}

export async function dropTwoFactor(tx: Tx, userId: number): Promise<void> {
  await sql`
    update users set two_factor_at = null, otp_secret = null, otp_step = null where id = ${userId}`.execute(
    tx,
  )
  await sql`delete from user_recovery_codes c where c.user_id = ${userId}`.execute(tx)
}
