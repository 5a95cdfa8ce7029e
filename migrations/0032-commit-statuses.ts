import { sql, type Kysely } from 'kysely'

/** Statuses that other CI systems report on commits: jobs of kind `external`, with what their system says of them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ci_jobs add column target_url text, add column description text`.execute(db)
}
