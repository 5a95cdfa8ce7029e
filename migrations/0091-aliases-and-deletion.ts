import { sql, type Kysely } from 'kysely'

/** Short names of projects for git, and projects and groups that wait for their end. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table project_aliases (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      constraint project_aliases_name unique (name)
    )`.execute(db)
  await sql`create index project_aliases_project on project_aliases (project_id)`.execute(db)

  for (const table of ['projects', 'namespaces'] as const) {
    await sql`
      alter table ${sql.table(table)}
        add column marked_for_deletion_at timestamptz(3),
        add column deleting_user_id bigint references users on delete set null`.execute(db)
    await sql`
      create index ${sql.raw(`${table}_marked`)} on ${sql.table(table)} (marked_for_deletion_at, id)
      where marked_for_deletion_at is not null`.execute(db)
  }
  // What lies in a group that waits for its end is closed to writes: remembered decisions are outdated.
  await sql`
    create trigger mark_access_after_doom after update of marked_for_deletion_at on namespaces
    for each statement execute function tree_marks_access()`.execute(db)
}
