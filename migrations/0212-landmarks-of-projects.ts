import { sql, type Kysely } from 'kysely'

/** Where the license of a project stands on its default branch, and which one it is; unknown ones have no key. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table projects add column license_path text, add column license_key text`.execute(db)
}
