import { sql, type Kysely } from 'kysely'

/** When the holder of a key has last shown his second factor, where git asks for one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ssh_key_proofs (
      key_id bigint primary key references ssh_keys on delete cascade,
      proven_at timestamptz(3) not null default now()
    )`.execute(db)
}
