import { sql, type Kysely } from 'kysely'

/** Not all that is taken for spam may be said once a captcha is solved: a spam-check server also refuses for good. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table spam_logs add column solvable boolean not null default true`.execute(db)
  await sql`alter table spam_logs alter column solvable drop default`.execute(db)
}
