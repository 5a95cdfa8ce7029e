import { sql, type Kysely } from 'kysely'

/** Applications that act for people who let them, without ever seeing their passwords. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // owner_id: null for those of the instance. redirect_uris: where its users may be sent back to.
  await sql`
    create table oauth_applications (
      id bigint generated always as identity primary key,
      uid text not null,
      secret_digest text not null,
      name text not null,
      redirect_uris text[] not null,
      scopes text[] not null,
      confidential boolean not null,
      trusted boolean not null default false,
      owner_id bigint references users on delete cascade,
      created_at timestamptz(3) not null default now(),
      constraint oauth_applications_uid unique (uid)
    )`.execute(db)
  await sql`create index oauth_applications_owner on oauth_applications (owner_id, id)`.execute(db)
  // line: of the code and of all tokens that come of it, one after the other; where one of them is used twice, all end.
  await sql`
    create table oauth_codes (
      id bigint generated always as identity primary key,
      application_id bigint not null references oauth_applications on delete cascade,
      user_id bigint not null references users on delete cascade,
      digest text not null,
      line uuid not null,
      redirect_uri text not null,
      scopes text[] not null,
      challenge text,
      nonce text,
      used_at timestamptz(3),
      expires_at timestamptz(3) not null,
      created_at timestamptz(3) not null default now(),
      constraint oauth_codes_digest unique (digest)
    )`.execute(db)
  await sql`create index oauth_codes_application on oauth_codes (application_id)`.execute(db)
  await sql`create index oauth_codes_user on oauth_codes (user_id)`.execute(db)
  await sql`create index oauth_codes_end on oauth_codes (expires_at)`.execute(db)
  // application_id: null for the password of a user that was shown without one.
  await sql`
    create table oauth_access_tokens (
      id bigint generated always as identity primary key,
      application_id bigint references oauth_applications on delete cascade,
      user_id bigint not null references users on delete cascade,
      digest text not null,
      refresh_digest text not null,
      line uuid not null,
      scopes text[] not null,
      expires_at timestamptz(3) not null,
      revoked_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint oauth_access_tokens_digest unique (digest),
      constraint oauth_access_tokens_refresh_digest unique (refresh_digest)
    )`.execute(db)
  await sql`create index oauth_access_tokens_application on oauth_access_tokens (application_id)`.execute(db)
  await sql`
    create index oauth_access_tokens_user on oauth_access_tokens (user_id, application_id) where revoked_at is null`.execute(
    db,
  )
  await sql`create index oauth_access_tokens_line on oauth_access_tokens (line)`.execute(db)
  await sql`
    create index oauth_access_tokens_revoked on oauth_access_tokens (revoked_at) where revoked_at is not null`.execute(
    db,
  )
  // A device shows a short code, which its user types in elsewhere. user_id: who allowed it; denied: who did not.
  await sql`
    create table oauth_devices (
      id bigint generated always as identity primary key,
      application_id bigint not null references oauth_applications on delete cascade,
      user_id bigint references users on delete cascade,
      digest text not null,
      user_code text not null,
      scopes text[] not null,
      denied boolean not null default false,
      asked_at timestamptz(3),
      expires_at timestamptz(3) not null,
      constraint oauth_devices_digest unique (digest),
      constraint oauth_devices_user_code unique (user_code)
    )`.execute(db)
  await sql`create index oauth_devices_application on oauth_devices (application_id)`.execute(db)
  await sql`create index oauth_devices_user on oauth_devices (user_id)`.execute(db)
  await sql`create index oauth_devices_end on oauth_devices (expires_at)`.execute(db)
}
