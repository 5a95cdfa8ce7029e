import { sql, type Kysely } from 'kysely'

/** Jobs that follow another pipeline, and what went wrong with one that they should have started. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table ci_jobs
      add column mirrors_pipeline_id bigint references ci_pipelines on delete set null,
      add column failure_message text`.execute(db)
  await sql`
    create index ci_jobs_mirrors on ci_jobs (mirrors_pipeline_id) where mirrors_pipeline_id is not null`.execute(
    db,
  )
}
