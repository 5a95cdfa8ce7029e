import { sql, type Kysely } from 'kysely'

/** Jobs of other projects get the artifacts of the newest success of a name on a ref, also where there is none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index ci_jobs_succeeded on ci_jobs (project_id, ref, name, id)
    where status = 'success' and kind = 'build' and not retried`.execute(db)
}
