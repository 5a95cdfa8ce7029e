import { sql, type Kysely } from 'kysely'

/** What users report of one another, for administrators. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table abuse_reports (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      reporter_id bigint not null references users on delete cascade,
      category text not null,
      message text not null,
      reported_from_url text,
      created_at timestamptz(3) not null default now(),
      constraint abuse_reports_once unique (user_id, reporter_id),
      constraint abuse_reports_not_oneself check (user_id <> reporter_id)
    )`.execute(db)
  await sql`create index abuse_reports_reporter on abuse_reports (reporter_id)`.execute(db)
}
