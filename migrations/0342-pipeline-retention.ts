import { sql, type Kysely } from 'kysely'

/** Finds the projects whose old pipelines are to be deleted: they are few. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index projects_pipeline_retention on projects (id)
    where settings ->> 'ci_delete_pipelines_in_seconds' is not null`.execute(db)
}
