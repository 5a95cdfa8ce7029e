import { sql, type Kysely } from 'kysely'

/** How often somebody has taken back his feed token, which is made of that and kept nowhere. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table users add column feed_token_version bigint not null default 0`.execute(db)
}
