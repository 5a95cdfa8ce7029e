import { sql, type Kysely } from 'kysely'

/** How often the code of a project is fetched, day by day; and whether somebody has asked to put its repository in order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table project_fetches (
      project_id bigint not null references projects on delete cascade,
      day date not null,
      count integer not null,
      primary key (project_id, day)
    )`.execute(db)
  await sql`create index project_fetches_day on project_fetches (day)`.execute(db)
  // Set while that is done.
  await sql`alter table repository_upkeep add column asked_at timestamptz(3)`.execute(db)
}
