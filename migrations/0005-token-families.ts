import { sql, type Kysely } from 'kysely'

/** Rotated tokens: each knows the first of its line, so that using one again can end them all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table personal_access_tokens add column family_id bigint`.execute(db)
  await sql`
    create index personal_access_tokens_family on personal_access_tokens (family_id)
    where family_id is not null`.execute(db)
}
