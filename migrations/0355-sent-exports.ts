import { sql, type Kysely } from 'kysely'

/** Where an archive is sent when it is made: address and method, sealed, since such addresses let in whoever has them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table project_exports add column upload text`.execute(db)
}
