import { sql, type Kysely } from 'kysely'

/** What the packages of a project take; and what counts its open issues. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table project_statistics add column packages_size bigint not null default 0`.execute(db)
  await sql`create index issues_opened on issues (project_id, confidential) where state = 'opened'`.execute(
    db,
  )
}
