import { sql, type Kysely } from 'kysely'

/** How often somebody asked in a window of time, over all nodes. Not worth a log entry: a crash forgets it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create unlogged table request_counts (
      bucket text primary key,
      count bigint not null,
      ends_at timestamptz not null
    )`.execute(db)
  await sql`create index request_counts_ends_at on request_counts (ends_at)`.execute(db)
  // The addresses that a user was seen at, and when last.
  await sql`
    create unlogged table user_addresses (
      user_id bigint not null references users (id) on delete cascade,
      address text not null,
      seen_at timestamptz not null,
      primary key (user_id, address)
    )`.execute(db)
}
