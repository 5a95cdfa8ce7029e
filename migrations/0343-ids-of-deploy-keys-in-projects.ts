import { sql, type Kysely } from 'kysely'

/** Lists tell of them by an id of their own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table deploy_key_projects add column id bigint generated always as identity`.execute(db)
}
