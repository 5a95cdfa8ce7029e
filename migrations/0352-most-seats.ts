import { sql, type Kysely } from 'kysely'

/** The most seats that were ever taken of what lies at the top, as counted each day. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table most_seats (
      namespace_id bigint primary key references namespaces on delete cascade,
      seats integer not null
    )`.execute(db)
}
