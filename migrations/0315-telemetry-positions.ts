import { sql, type Kysely } from 'kysely'

/** Up to which row of each source the collector of events was told; empty while nothing is told. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table telemetry_positions (source text primary key, last_id bigint not null)`.execute(db)
}
