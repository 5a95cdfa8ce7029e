import { sql, type Kysely } from 'kysely'

/** Mails that are to be sent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // key: what the mail tells whom, so that nobody is told it twice. sealed: subject, text and headers, encrypted, since
  // a mail may hold what only its reader is to know; it goes once the mail is sent or given up. failure: why that was.
  await sql`
    create table mails (
      id bigint generated always as identity primary key,
      key text not null,
      user_id bigint references users on delete cascade,
      address text not null,
      sealed text,
      attempts integer not null default 0,
      created_at timestamptz(3) not null default now(),
      ended_at timestamptz(3),
      failure text,
      check ((sealed is null) = (ended_at is not null)),
      constraint mails_key unique (key)
    )`.execute(db)
  await sql`create index mails_user on mails (user_id) where user_id is not null`.execute(db)
  await sql`create index mails_ended on mails (ended_at) where ended_at is not null`.execute(db)
}
