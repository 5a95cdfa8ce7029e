import { sql, type Kysely } from 'kysely'

/** Projects written to a file, and made of one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table project_exports (
      project_id bigint primary key references projects on delete cascade,
      user_id bigint references users on delete set null,
      description text,
      status text not null default 'queued' check (status in ('queued', 'started', 'finished', 'failed')),
      digest text,
      size bigint,
      error text,
      created_at timestamptz(3) not null default now(),
      check ((status = 'finished') = (digest is not null))
    )`.execute(db)
  await sql`create index project_exports_user on project_exports (user_id)`.execute(db)
  await sql`create index project_exports_age on project_exports (created_at)`.execute(db)
  // How far it has come stands with the project. digest: of the file, as long as it is needed. url: where it is to be
  // fetched from first. failed: what of it could not be taken.
  await sql`
    create table project_imports (
      project_id bigint primary key references projects on delete cascade,
      user_id bigint references users on delete set null,
      correlation_id text not null,
      digest text,
      url text,
      error text,
      failed jsonb not null default '[]',
      stats jsonb not null default '{}',
      created_at timestamptz(3) not null default now(),
      check (num_nulls(digest, url) > 0)
    )`.execute(db)
  await sql`create index project_imports_user on project_imports (user_id)`.execute(db)
}
