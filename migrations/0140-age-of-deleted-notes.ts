import { sql, type Kysely } from 'kysely'

/** Who was away for long need not be told what was deleted meanwhile: such rows are removed by their age. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table deleted_notes add column deleted_at timestamptz(3) not null default now()`.execute(db)
  await sql`create index deleted_notes_age on deleted_notes (deleted_at)`.execute(db)
}
