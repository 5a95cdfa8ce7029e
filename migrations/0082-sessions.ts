import { sql, type Kysely } from 'kysely'

/** How people sign in with a password and a second factor, and stay signed in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // otp_secret: encrypted; it counts once two_factor_at says that a first code was right. otp_step: of the last code
  // that was taken, so that none is taken twice. two_factor_asked_at: when the user was first told to have one.
  await sql`
    alter table users
      add column failed_attempts integer not null default 0,
      add column locked_until timestamptz(3),
      add column password_expired boolean not null default false,
      add column otp_secret text,
      add column otp_step bigint,
      add column two_factor_at timestamptz(3),
      add column two_factor_asked_at timestamptz(3),
      add column current_sign_in_at timestamptz(3),
      add column current_sign_in_ip inet,
      add column last_sign_in_ip inet,
      add column sign_in_count integer not null default 0`.execute(db)
  await sql`
    create table user_recovery_codes (
      user_id bigint not null references users on delete cascade,
      digest text not null,
      primary key (user_id, digest)
    )`.execute(db)
  // enrol_by: until then the session counts; its user has to have a second factor.
  await sql`
    create table user_sessions (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      digest text not null,
      ip inet,
      user_agent text,
      created_at timestamptz(3) not null default now(),
      last_seen_at timestamptz(3) not null default now(),
      expires_at timestamptz(3) not null,
      enrol_by timestamptz(3),
      constraint user_sessions_digest unique (digest)
    )`.execute(db)
  await sql`create index user_sessions_user on user_sessions (user_id, id)`.execute(db)
  await sql`create index user_sessions_end on user_sessions (expires_at)`.execute(db)
}
