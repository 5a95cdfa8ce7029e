import { sql, type Kysely } from 'kysely'

/** Values that a schedule gives to what its configuration takes, by name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table ci_pipeline_schedules add column inputs jsonb not null default '{}'`.execute(db)
}
