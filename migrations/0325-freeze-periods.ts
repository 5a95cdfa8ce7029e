import { sql, type Kysely } from 'kysely'

/** Times in which nothing is to be deployed, as pipelines are told. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table freeze_periods (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      freeze_start text not null,
      freeze_end text not null,
      cron_timezone text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index freeze_periods_project on freeze_periods (project_id, created_at, id)`.execute(db)
}
