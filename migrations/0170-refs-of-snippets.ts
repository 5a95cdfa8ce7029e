import { sql, type Kysely } from 'kysely'

/** Whoever moves the branch of a snippet bumps its version, so that no node shows old refs to git clients. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table snippets add column refs_version bigint not null default 0`.execute(db)
}
