import { sql, type Kysely } from 'kysely'

/** The head of the merge request whose merge a pipeline builds; null: `sha` itself was pushed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ci_pipelines add column source_sha text`.execute(db)
}
