import { sql, type Kysely } from 'kysely'

/** Lists are asked for those that have an attribute of a value, which may be longer than an index can hold. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index custom_attributes_value on custom_attributes (key, md5(value))`.execute(db)
}
