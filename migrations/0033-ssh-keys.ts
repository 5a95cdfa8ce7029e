import { sql, type Kysely } from 'kysely'

/** SSH keys of users, deploy keys of projects, and the keys by which the service shows who it is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One table for both kinds: a key stands once, so that a connection knows by its fingerprint whose it is. `public`:
  // a deploy key that every Maintainer may enable.
  await sql`
    create table ssh_keys (
      id bigint generated always as identity primary key,
      kind text not null check (kind in ('user', 'deploy')),
      user_id bigint references users on delete cascade,
      creator_id bigint references users on delete set null,
      title text not null,
      key text not null,
      fingerprint text not null,
      fingerprint_sha256 text not null,
      usage_type text not null default 'auth_and_signing'
        check (usage_type in ('auth', 'signing', 'auth_and_signing')),
      public boolean not null default false,
      created_at timestamptz(3) not null default now(),
      expires_at timestamptz(3),
      last_used_at timestamptz(3),
      constraint ssh_keys_fingerprint unique (fingerprint_sha256),
      check ((kind = 'user') = (user_id is not null))
    )`.execute(db)
  await sql`create index ssh_keys_user on ssh_keys (user_id, id) where user_id is not null`.execute(db)
  await sql`create index ssh_keys_md5 on ssh_keys (fingerprint)`.execute(db)
  await sql`create index ssh_keys_deploy on ssh_keys (id) where kind = 'deploy'`.execute(db)
  await sql`
    create table deploy_key_projects (
      project_id bigint not null references projects on delete cascade,
      deploy_key_id bigint not null references ssh_keys on delete cascade,
      can_push boolean not null default false,
      created_at timestamptz(3) not null default now(),
      primary key (project_id, deploy_key_id)
    )`.execute(db)
  await sql`create index deploy_key_projects_key on deploy_key_projects (deploy_key_id)`.execute(db)

  // secret: the private key, encrypted. All nodes show the same ones.
  await sql`
    create table ssh_host_keys (
      type text primary key,
      secret text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
}
