import { sql, type Kysely } from 'kysely'

/** Whether tokens and keys are kept from being pushed to a project. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table projects add column secret_push_protection boolean not null default false`.execute(db)
}
