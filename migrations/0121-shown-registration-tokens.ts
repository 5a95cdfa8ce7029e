import { sql, type Kysely } from 'kysely'

/** Registration tokens are shown again to those who look after their place, so they are kept sealed too. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Null: from before. It works on, and is not shown.
  await sql`alter table ci_registration_tokens add column secret text`.execute(db)
}
