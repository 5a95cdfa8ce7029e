import { sql, type Kysely } from 'kysely'

/** Lists are asked for those that have an attribute of a value. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index custom_attributes_value on custom_attributes (key, value)`.execute(db)
}
