import { sql, type Kysely } from 'kysely'

/**
 * The queue by what decides who may have a job, so that the first job of each project and kind is found by a step in
 * the index, however many wait behind it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index ci_jobs_waiting on ci_jobs (project_id, tag_list, protected, queued_at, id)
    where status = 'pending' and kind = 'build'`.execute(db)
}
