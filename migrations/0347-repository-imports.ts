import { sql, type Kysely } from 'kysely'

/** What projects were made from: repositories elsewhere that are fetched once. One a project. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // address: sealed, until the import has ended. due_at: when it is tried; null: it has ended.
  await sql`
    create table repository_imports (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      user_id bigint references users on delete set null,
      address text,
      shown_address text not null,
      update_status text not null default 'scheduled'
        check (update_status in ('scheduled', 'started', 'finished', 'failed')),
      failures integer not null default 0,
      due_at timestamptz,
      runner uuid,
      running_until timestamptz,
      constraint repository_imports_project unique (project_id),
      check ((runner is null) = (running_until is null))
    )`.execute(db)
  await sql`create index repository_imports_due on repository_imports (due_at) where due_at is not null`.execute(
    db,
  )
  await sql`create index repository_imports_user on repository_imports (user_id)`.execute(db)
}
