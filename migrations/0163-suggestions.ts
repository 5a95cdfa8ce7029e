import { sql, type Kysely } from 'kysely'

/** What notes at lines of merge requests propose to write there instead. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // number: the place in the note. lines_above, lines_below: around the line that the note stands at. outdated: the lines
  // have become others since. applied_commit: the commit that wrote it.
  await sql`
    create table suggestions (
      id bigint generated always as identity primary key,
      note_id bigint not null references notes on delete cascade,
      number integer not null,
      lines_above integer not null,
      lines_below integer not null,
      from_content text not null,
      to_content text not null,
      outdated boolean not null default false,
      applied_commit text,
      constraint suggestions_number unique (note_id, number)
    )`.execute(db)
}
