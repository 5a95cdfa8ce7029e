import { sql, type Kysely } from 'kysely'

/** People who come by themselves: their addresses, and the terms they accept. Sessions that outlive a closed browser. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // accepted_terms: digest of the terms that the user accepted last. confirmation_digest: of the secret that was sent
  // to the address, whose owner it confirms.
  await sql`
    alter table users
      add column accepted_terms text,
      add column confirmation_digest text,
      add column confirmation_sent_at timestamptz(3),
      add constraint users_confirmation_digest unique (confirmation_digest)`.execute(db)
  await sql`create index users_unconfirmed on users (created_at) where confirmed_at is null`.execute(db)
  // Each different text is a version.
  await sql`
    create table terms (
      id bigint generated always as identity primary key,
      digest text not null,
      text text not null,
      created_at timestamptz(3) not null default now(),
      constraint terms_digest unique (digest)
    )`.execute(db)
  await sql`
    create table terms_agreements (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      terms_id bigint not null references terms on delete cascade,
      accepted boolean not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index terms_agreements_user on terms_agreements (user_id, id)`.execute(db)
  await sql`create index terms_agreements_terms on terms_agreements (terms_id)`.execute(db)
  // Until then the session counts although nobody used it, as long as the instance lets people be remembered.
  await sql`alter table user_sessions add column remembered_until timestamptz(3)`.execute(db)
  await sql`drop index user_sessions_end`.execute(db)
  await sql`create index user_sessions_end on user_sessions (greatest(expires_at, remembered_until))`.execute(
    db,
  )
}
