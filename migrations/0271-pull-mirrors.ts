import { sql, type Kysely } from 'kysely'

/** Repositories elsewhere that projects follow: what appears there appears here. One a project. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // address: sealed. due_at: when it is asked again; null: when somebody wants it.
  await sql`
    create table pull_mirrors (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      user_id bigint references users on delete set null,
      address text not null,
      shown_address text not null,
      host_keys text[] not null default '{}',
      enabled boolean not null,
      trigger_builds boolean not null,
      only_protected_branches boolean not null,
      overwrites_diverged_branches boolean not null,
      branch_regex text,
      update_status text not null default 'none'
        check (update_status in ('none', 'scheduled', 'started', 'finished', 'failed')),
      last_error text,
      last_update_at timestamptz(3),
      last_update_started_at timestamptz(3),
      last_successful_update_at timestamptz(3),
      due_at timestamptz,
      failures integer not null default 0,
      runner uuid,
      running_until timestamptz,
      constraint pull_mirrors_project unique (project_id),
      check ((runner is null) = (running_until is null))
    )`.execute(db)
  await sql`create index pull_mirrors_due on pull_mirrors (due_at) where due_at is not null`.execute(db)
  await sql`create index pull_mirrors_user on pull_mirrors (user_id)`.execute(db)
}
