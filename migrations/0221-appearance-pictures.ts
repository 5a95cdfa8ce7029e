import { sql, type Kysely } from 'kysely'

/** Pictures by which the instance shows itself; what else there is to say lies beside the settings. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table appearance_pictures (
      kind text primary key constraint appearance_pictures_kind check (kind in ('logo', 'header_logo', 'favicon')),
      content_type text not null,
      content bytea not null,
      digest text not null
    )`.execute(db)
  await sql`alter table appearance_pictures alter content set storage external`.execute(db)
}
