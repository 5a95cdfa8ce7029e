import { sql, type Kysely } from 'kysely'

/** What the repository of a wiki takes on disk, and how far its updates have been reckoned with when it was last put in order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table wikis add column size bigint not null default 0,
      add column optimised_update bigint not null default 0`.execute(db)
}
