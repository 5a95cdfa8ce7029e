import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import type { Terms } from '../../settings/index.ts'
import type { Addressee } from '../users/index.ts'

/** Hours within which what was sent confirms. */
const confirmationHours = 24

export async function confirm(tx: Tx, digest: string): Promise<{ id: number; email: string } | undefined> {
  const { rows } = await sql<{ id: number; email: string }>`
    update users set confirmed_at = now(), confirmation_digest = null, updated_at = now()
    where confirmation_digest = ${digest} and confirmed_at is null
      and confirmation_sent_at > now() - make_interval(hours => ${confirmationHours})
    returning id, email`.execute(tx)
  return rows[0]
}

export async function findUnconfirmed(tx: Tx, email: string): Promise<Addressee | undefined> {
  const { rows } = await sql<Addressee>`
    select u.id, u.name, u.email from users u
    where lower(u.email) = lower(${email}) and u.confirmed_at is null for no key update`.execute(tx)
  return rows[0]
}

/** A round of these is told that somebody waits; an instance has few. */
const mostAdministrators = 100

export async function administrators(tx: Tx): Promise<Addressee[]> {
  const { rows } = await sql<Addressee>`
    select u.id, u.name, u.email from users u
    where u.admin and u.state = 'active' and u.kind = 'human' order by u.id limit ${mostAdministrators}`.execute(
    tx,
  )
  return rows
}

/** Those who never confirmed their address nor signed in, and are older than so many days. */
export async function longUnconfirmed(db: Reader, days: number, most: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select u.id from users u
    where u.confirmed_at is null and u.kind = 'human' and u.current_sign_in_at is null
      and u.created_at < now() - make_interval(days => ${days}::int)
    order by u.created_at limit ${most}`.execute(db)
  return rows.map(({ id }) => id)
}

/** The number of a version of the terms, which has one from when it is first shown. */
export async function versionOf(tx: Tx, { digest, text }: Terms): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    with added as (
      insert into terms (digest, text) values (${digest}, ${text}) on conflict (digest) do nothing returning id)
    select id from added union all select t.id from terms t where t.digest = ${digest} limit 1`.execute(tx)
  return rows[0]!.id
}

export async function digestOf(tx: Tx, termsId: number): Promise<string | undefined> {
  const { rows } = await sql<{ digest: string }>`
    select t.digest from terms t where t.id = ${termsId}`.execute(tx)
  return rows[0]?.digest
}

/** Notes what a user said to a version of the terms; what he says last counts. */
export async function agree(
  tx: Tx,
  userId: number,
  terms: { readonly id: number; readonly digest: string },
  accepted: boolean,
): Promise<void> {
  await sql`
    insert into terms_agreements (user_id, terms_id, accepted) values (${userId}, ${terms.id}, ${accepted})`.execute(
    tx,
  )
  await sql`
    update users set accepted_terms = ${accepted ? terms.digest : null} where id = ${userId}`.execute(tx)
}
