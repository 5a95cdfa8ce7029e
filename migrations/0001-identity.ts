import { sql, type Kysely } from 'kysely'

/** Users, their tokens, namespaces (personal and groups), the routes that name them, and memberships. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table users (
      id bigint generated always as identity primary key,
      username text not null,
      name text not null,
      email text not null,
      public_email text,
      commit_email text,
      state text not null default 'active' check (state in
        ('active', 'blocked', 'ldap_blocked', 'deactivated', 'banned', 'blocked_pending_approval')),
      kind text not null default 'human' check (kind in ('human', 'project_bot', 'service_account', 'internal')),
      admin boolean not null default false,
      external boolean not null default false,
      private_profile boolean not null default false,
      password_digest text,
      can_create_group boolean not null default true,
      projects_limit integer not null default 100000,
      profile jsonb not null default '{}',
      note text,
      created_by_id bigint references users on delete set null,
      confirmed_at timestamptz(3),
      last_activity_on date,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create unique index users_username on users (lower(username))`.execute(db)
  await sql`create unique index users_email on users (lower(email))`.execute(db)

  // Only what is compared later is kept of a token: its SHA-256.
  await sql`
    create table personal_access_tokens (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      name text not null,
      description text,
      digest text not null,
      scopes text[] not null,
      impersonation boolean not null default false,
      revoked boolean not null default false,
      expires_at date,
      last_used_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint personal_access_tokens_digest unique (digest)
    )`.execute(db)
  await sql`create index personal_access_tokens_user on personal_access_tokens (user_id, id)`.execute(db)

  // traversal_ids leads from the top-level namespace down to this one, itself included.
  await sql`
    create table namespaces (
      id bigint generated always as identity primary key,
      kind text not null check (kind in ('user', 'group')),
      parent_id bigint references namespaces on delete cascade,
      owner_id bigint references users on delete cascade,
      name text not null,
      path text not null,
      full_path text not null,
      traversal_ids bigint[] not null,
      visibility smallint not null default 0 check (visibility in (0, 10, 20)),
      description text not null default '',
      settings jsonb not null default '{}',
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check ((kind = 'user') = (owner_id is not null)),
      check (kind = 'group' or parent_id is null),
      constraint namespaces_depth check (cardinality(traversal_ids) <= 20)
    )`.execute(db)
  await sql`create index namespaces_parent on namespaces (parent_id)`.execute(db)
  await sql`create unique index namespaces_owner on namespaces (owner_id) where kind = 'user'`.execute(db)
  await sql`create index namespaces_traversal on namespaces using gin (traversal_ids)`.execute(db)
  await sql`create index namespaces_groups on namespaces (lower(name), id) where kind = 'group'`.execute(db)
}
