import { sql, type Kysely } from 'kysely'

/** Repositories elsewhere that are kept as a project's is: what is pushed here is pushed there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // address, private_key: sealed. asked_at: the last change that is to be brought there; due_at: when, null for nothing.
  await sql`
    create table push_mirrors (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      address text not null,
      shown_address text not null,
      auth_method text not null check (auth_method in ('password', 'ssh_public_key')),
      private_key text,
      public_key text,
      host_keys text[] not null default '{}',
      enabled boolean not null,
      only_protected_branches boolean not null,
      branch_regex text,
      keep_divergent_refs boolean not null,
      update_status text not null default 'none'
        check (update_status in ('none', 'scheduled', 'started', 'finished', 'failed', 'to_retry')),
      last_error text,
      last_update_at timestamptz(3),
      last_update_started_at timestamptz(3),
      last_successful_update_at timestamptz(3),
      asked_at timestamptz,
      due_at timestamptz,
      failures integer not null default 0,
      runner uuid,
      running_until timestamptz,
      created_at timestamptz(3) not null default now(),
      check ((private_key is null) = (public_key is null)),
      check ((runner is null) = (running_until is null))
    )`.execute(db)
  await sql`create index push_mirrors_projects on push_mirrors (project_id, id)`.execute(db)
  await sql`create index push_mirrors_due on push_mirrors (due_at) where due_at is not null`.execute(db)
}
