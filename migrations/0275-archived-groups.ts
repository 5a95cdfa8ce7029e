import { sql, type Kysely } from 'kysely'

/** Groups that are archived with all that lies below them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table namespaces add column archived boolean not null default false`.execute(db)
  await sql`create index namespaces_archived on namespaces (id) where archived`.execute(db)
  // Its entrance and those of all groups below are outdated.
  await sql`
    create trigger mark_access_after_archive after update of archived on namespaces
    for each statement execute function tree_marks_access()`.execute(db)

  // Archived only because a group above is: such a project comes back with the group.
  await sql`
    alter table projects
      add column archived_with_group boolean not null default false,
      add constraint projects_archived_with_group check (archived or not archived_with_group)`.execute(db)
}
