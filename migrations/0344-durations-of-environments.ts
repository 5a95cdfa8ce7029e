import { sql, type Kysely } from 'kysely'

/** How long the environment of a job is to last, with the variables of the job put in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ci_jobs add column environment_stop_in text`.execute(db)
}
