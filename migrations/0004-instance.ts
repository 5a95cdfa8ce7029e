import { sql, type Kysely } from 'kysely'

/** What the instance keeps about itself: changed settings, keys, and the outbox of domain events. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Only settings that differ from the catalogue's default have a row.
  await sql`
    create table application_settings (
      name text primary key,
      value jsonb not null,
      updated_at timestamptz(3) not null default now()
    )`.execute(db)

  // News, written in the transaction that causes it. Each subscriber handles each event once (tasks/).
  await sql`
    create table events (
      id bigint generated always as identity primary key,
      kind text not null,
      project_id bigint,
      user_id bigint,
      payload jsonb not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index events_project on events (project_id, id)`.execute(db)
}
