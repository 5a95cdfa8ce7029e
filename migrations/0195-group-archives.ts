import { sql, type Kysely } from 'kysely'

/** Groups written to a file, and made of one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table group_exports (
      namespace_id bigint primary key references namespaces on delete cascade,
      user_id bigint references users on delete set null,
      status text not null default 'queued' check (status in ('queued', 'finished', 'failed')),
      digest text,
      size bigint,
      created_at timestamptz(3) not null default now(),
      check ((status = 'finished') = (digest is not null))
    )`.execute(db)
  await sql`create index group_exports_user on group_exports (user_id)`.execute(db)
  await sql`create index group_exports_age on group_exports (created_at)`.execute(db)
  // digest: of the file, until it is read. failed: what of it could not be taken.
  await sql`
    create table group_imports (
      namespace_id bigint primary key references namespaces on delete cascade,
      user_id bigint references users on delete set null,
      status text not null default 'queued' check (status in ('queued', 'started', 'finished', 'failed')),
      digest text,
      error text,
      failed jsonb not null default '[]',
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index group_imports_user on group_imports (user_id)`.execute(db)
}
