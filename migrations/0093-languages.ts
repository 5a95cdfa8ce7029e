import { sql, type Kysely } from 'kysely'

/** Which languages projects are written in, at a commit of their default branch. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // names: in lower case, to be found by.
  await sql`
    create table project_languages (
      project_id bigint primary key references projects on delete cascade,
      commit text not null,
      shares jsonb not null,
      names text[] not null
    )`.execute(db)
  await sql`create index project_languages_names on project_languages using gin (names)`.execute(db)
}
