import { sql, type Kysely } from 'kysely'

/** Whether a merge request changes files in Git LFS that others have locked, as was found when it was last looked at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table merge_requests add column locked_files boolean not null default false`.execute(db)
}
