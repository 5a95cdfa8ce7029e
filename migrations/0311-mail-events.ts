import { sql, type Kysely } from 'kysely'

/** What the provider of mail tells of mails that did not arrive. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Its mail cannot be delivered: nobody is reminded of it any more.
  await sql`alter table invitations add column undeliverable boolean not null default false`.execute(db)
  // What was told already is not taken again.
  await sql`
    create table mail_events (
      token text primary key,
      received_at timestamptz(3) not null default now()
    )`.execute(db)
}
