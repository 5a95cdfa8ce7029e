import { sql, type Kysely } from 'kysely'

/** Who changed which settings, when, from what and to what. The first revision is that of the defaults. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table setting_revisions (
      id bigint generated always as identity primary key,
      user_id bigint references users (id) on delete set null,
      -- The revision whose state this one brought back.
      restores bigint references setting_revisions (id),
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index setting_revisions_user on setting_revisions (user_id)`.execute(db)
  await sql`create index setting_revisions_restores on setting_revisions (restores)`.execute(db)
  // Secrets are sealed here as they are in application_settings.
  await sql`
    create table setting_changes (
      revision_id bigint not null references setting_revisions (id),
      name text not null,
      before jsonb not null,
      after jsonb not null,
      primary key (revision_id, name)
    )`.execute(db)
  await sql`create index setting_changes_name on setting_changes (name, revision_id)`.execute(db)
  await sql`insert into setting_revisions default values`.execute(db)
}
