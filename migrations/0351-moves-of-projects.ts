import { sql, type Kysely } from 'kysely'

/** Who moved a ref is looked up in the journal of its project, from the newest entry back. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index ref_updates_project on ref_updates (project_id, id)`.execute(db)
}
