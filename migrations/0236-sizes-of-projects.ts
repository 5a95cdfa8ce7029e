import { sql, type Kysely } from 'kysely'

const sizes = ['repository_size', 'wiki_size', 'packages_size', 'storage_size'] as const

/** What projects took when they were measured last, where lists can be put in that order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const size of sizes) {
    await sql`alter table projects add column ${sql.ref(size)} bigint not null default 0`.execute(db)
  }
  await sql`
    update projects p set repository_size = s.repository_size, wiki_size = s.wiki_size,
      packages_size = s.packages_size, storage_size = s.repository_size + s.wiki_size + s.lfs_objects_size
        + s.job_artifacts_size + s.packages_size + s.snippets_size + s.uploads_size + s.container_registry_size
    from (
      select m.*, coalesce(w.size, 0) as wiki_size
      from project_statistics m left join wikis w on w.project_id = m.project_id) s
    where s.project_id = p.id`.execute(db)
  for (const size of sizes) {
    await sql`
      create index ${sql.ref(`projects_order_${size}`)} on projects (visibility, ${sql.ref(size)}, id)`.execute(
      db,
    )
  }
}
