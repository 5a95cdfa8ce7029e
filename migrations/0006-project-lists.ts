import { sql, type Kysely } from 'kysely'

/** What lists of projects and groups need to stay quick with a million of them, and the place of a project's README. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table projects add column readme_path text`.execute(db)

  // Lists are put together from one part for each visibility, each read in the order of the list: see
  // `kernel/endpoint/merged-page.ts`.
  for (const index of ['created_at', 'updated_at', 'last_activity_at', 'public'] as const) {
    await sql`drop index ${sql.raw(`projects_${index}`)}`.execute(db)
  }
  for (const column of ['created_at', 'updated_at', 'last_activity_at'] as const) {
    await sql`
      create index ${sql.raw(`projects_${column}`)} on projects (visibility, ${sql.ref(column)}, id)`.execute(
      db,
    )
  }
  await sql`create index projects_order_name on projects (visibility, lower(name), id)`.execute(db)
  await sql`create index projects_order_path on projects (visibility, lower(path), id)`.execute(db)
  await sql`create index projects_order_id on projects (visibility, id)`.execute(db)
  await sql`create index projects_archived on projects (visibility, created_at, id) where archived`.execute(
    db,
  )
  await sql`create index projects_in_namespace on projects (namespace_id, created_at, id)`.execute(db)
  await sql`drop index namespaces_groups`.execute(db)
  await sql`create index namespaces_groups on namespaces (visibility, lower(name), id) where kind = 'group'`.execute(
    db,
  )

  // Searching finds parts of words.
  await sql`create extension if not exists pg_trgm`.execute(db)
  await sql`
    create index projects_search on projects
    using gin (name gin_trgm_ops, path gin_trgm_ops, description gin_trgm_ops)`.execute(db)
  await sql`create index projects_search_path on projects using gin (full_path gin_trgm_ops)`.execute(db)
  await sql`create index projects_topics on projects using gin (topics)`.execute(db)
  await sql`
    create index namespaces_search on namespaces using gin (name gin_trgm_ops, full_path gin_trgm_ops)
    where kind = 'group'`.execute(db)
}
