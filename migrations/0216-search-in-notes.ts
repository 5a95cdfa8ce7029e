import { sql, type Kysely } from 'kysely'

/** What people said is searched: rare words by what notes are made of, common ones from the newest note on. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index notes_body_text on notes using gin (body gin_trgm_ops) where not system`.execute(db)
  await sql`create index notes_newest on notes (created_at, id) where not system`.execute(db)
}
