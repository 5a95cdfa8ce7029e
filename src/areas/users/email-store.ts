import { onConstraint, sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import { invalid } from '../../kernel/errors/index.ts'

export interface EmailRow {
  readonly id: number
  readonly email: string
  readonly confirmed_at: string | null
  readonly created_at: string
}

/** Whose addresses: the caller's, or those of the user with this id. */
export type Whose = 'caller' | number

const columns = sql`e.id, e.email, e.confirmed_at, e.created_at`
const of = (whose: Whose) => (whose === 'caller' ? sql`e.user_id = actor.id` : sql`e.user_id = ${whose}`)

/** The further addresses; the first one stands with the user. */
export function listEmails(whose: Whose, input: PageInput): Read<EmailRow> {
  return page({ columns, from: sql`from user_emails e where ${of(whose)}`, order: sql`e.id` }, input)
}

export function oneEmail(whose: Whose, id: number): Read<EmailRow> {
  return rows(sql`select ${columns} from user_emails e where ${of(whose)} and e.id = ${id}`)
}

const taken = () => invalid({ email: ['has already been taken'] })

/** 400 for an address that any account has, as its first or a further one. */
export async function addEmail(tx: Tx, userId: number, email: string, confirmed: boolean): Promise<EmailRow> {
  // Held, so that no account takes the address as its first one meanwhile.
  await lockAddress(tx, email)
  const first = await sql`select from users u where lower(u.email) = lower(${email})`.execute(tx)
  if (first.rows.length > 0) throw taken()
  const { rows: made } = await sql<EmailRow>`
    insert into user_emails (user_id, email, confirmed_at)
    values (${userId}, ${email}, case when ${confirmed} then now() end)
    returning id, email, confirmed_at, created_at`
    .execute(tx)
    .catch(onConstraint('user_emails_email', taken))
  if (confirmed) await sql`select accept_invitations(${userId}, ${email})`.execute(tx)
  return made[0]!
}

/** Hours within which what was sent confirms. */
const confirmationHours = 24

export async function expectConfirmation(tx: Tx, id: number, digest: string): Promise<void> {
  await sql`
    update user_emails set confirmation_digest = ${digest}, confirmation_sent_at = now() where id = ${id}`.execute(
    tx,
  )
}

/** Whose further address was confirmed, and which; undefined where nothing was sent with this digest lately. */
export async function confirmFurtherEmail(
  tx: Tx,
  digest: string,
): Promise<{ id: number; email: string } | undefined> {
  const { rows: confirmed } = await sql<{ id: number; email: string }>`
    update user_emails e set confirmed_at = now(), confirmation_digest = null
    where e.confirmation_digest = ${digest} and e.confirmed_at is null
      and e.confirmation_sent_at > now() - make_interval(hours => ${confirmationHours})
    returning e.user_id as id, e.email`.execute(tx)
  return confirmed[0]
}

/** Who gives an address to an account, as its first or a further one, does so alone. */
export async function lockAddress(tx: Tx, email: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${email.toLowerCase()}, 180))`.execute(tx)
}

/** What was shown or used of an address goes with it. */
export async function removeEmail(tx: Tx, id: number): Promise<void> {
  await sql`
    with gone as (delete from user_emails e where e.id = ${id} returning e.user_id, lower(e.email) as email)
    update users u set
      public_email = case when lower(u.public_email) = gone.email then null else u.public_email end,
      commit_email = case when lower(u.commit_email) = gone.email then null else u.commit_email end
    from gone where u.id = gone.user_id`.execute(tx)
}

/** The confirmed addresses of a user, in small letters. */
export async function ownedEmails(db: Reader, userId: number): Promise<ReadonlySet<string>> {
  const found = await sql<{ email: string }>`
    select lower(e.email) as email from user_emails e where e.user_id = ${userId} and e.confirmed_at is not null`.execute(
    db,
  )
  return new Set(found.rows.map(({ email }) => email))
}
