import { sql, type Kysely } from 'kysely'

/**
 * The queue of runners that serve many projects: by tags first, so that what a runner cannot have is passed over at
 * once, in however many projects it waits.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index ci_jobs_waiting_by_tags on ci_jobs (tag_list, protected, project_id, queued_at, id)
    where status = 'pending' and kind = 'build'`.execute(db)
}
