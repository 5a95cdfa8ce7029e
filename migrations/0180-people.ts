import { sql, type Kysely } from 'kysely'

/** What people say of themselves: pictures, further addresses, a status, whom they follow, and keys that sign. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // The content stands apart: lists read names of pictures, and pictures are looked at one by one.
  await sql`
    create table avatars (
      user_id bigint references users on delete cascade,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      content_type text not null,
      content bytea not null check (length(content) <= 204800),
      digest text not null,
      check (num_nonnulls(user_id, project_id, namespace_id) = 1),
      constraint avatars_user unique (user_id),
      constraint avatars_project unique (project_id),
      constraint avatars_namespace unique (namespace_id)
    )`.execute(db)
  await sql`alter table avatars alter content set storage external`.execute(db)
  for (const table of ['users', 'projects', 'namespaces']) {
    await sql`alter table ${sql.table(table)} add column avatar text`.execute(db)
  }

  // The service of pictures by address knows people by this; immutable, since the database is in UTF-8 for good.
  await sql`
    create function email_digest(email text) returns text immutable strict parallel safe language sql as $$
      select encode(sha256(convert_to(lower(btrim(email)), 'UTF8')), 'hex')
    $$`.execute(db)
  await sql`
    alter table users add column email_digest text not null
      generated always as (email_digest(email)) stored`.execute(db)

  // Addresses besides the first one, which stays with the user.
  await sql`
    create table user_emails (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      email text not null,
      confirmed_at timestamptz(3),
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create unique index user_emails_email on user_emails (lower(email))`.execute(db)
  await sql`create index user_emails_user on user_emails (user_id, id)`.execute(db)

  await sql`
    create table user_statuses (
      user_id bigint primary key references users on delete cascade,
      emoji text not null default 'speech_balloon',
      message text,
      availability text not null default 'not_set' check (availability in ('not_set', 'busy')),
      clear_status_at timestamptz(3)
    )`.execute(db)

  await sql`
    create table user_follows (
      follower_id bigint not null references users on delete cascade,
      followee_id bigint not null references users on delete cascade,
      created_at timestamptz(3) not null default now(),
      primary key (follower_id, followee_id),
      check (follower_id <> followee_id)
    )`.execute(db)
  await sql`create index user_follows_followee on user_follows (followee_id, follower_id)`.execute(db)

  await sql`
    create table gpg_keys (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      key text not null,
      fingerprint text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create unique index gpg_keys_fingerprint on gpg_keys (fingerprint)`.execute(db)
  await sql`create index gpg_keys_user on gpg_keys (user_id, id)`.execute(db)

  // Who acts is looked for by what he did: contributions to projects.
  await sql`create index events_user on events (user_id, created_at) where user_id is not null`.execute(db)

  // Every address that somebody has shown to be his.
  await sql`
    create view confirmed_emails as
      select u.id as user_id, u.email from users u where u.confirmed_at is not null
      union all
      select e.user_id, e.email from user_emails e where e.confirmed_at is not null`.execute(db)

  await sql`create unique index users_ghost on users (kind) where kind = 'internal' and username ~ '^ghost[0-9]*$'`.execute(
    db,
  )
}
