import { sql, type Kysely } from 'kysely'

/** Whose code a user has fetched, and when last; kept only while the instance limits how much that may be. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table project_downloads (
      user_id bigint not null references users on delete cascade,
      project_id bigint not null references projects on delete cascade,
      downloaded_at timestamptz(3) not null default now(),
      primary key (user_id, project_id)
    )`.execute(db)
  await sql`create index project_downloads_time on project_downloads (user_id, downloaded_at)`.execute(db)
  await sql`create index project_downloads_project on project_downloads (project_id)`.execute(db)
  await sql`create index project_downloads_age on project_downloads (downloaded_at)`.execute(db)
}
