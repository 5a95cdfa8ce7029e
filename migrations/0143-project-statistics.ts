import { sql, type Kysely } from 'kysely'

/** What a project takes, as it was measured last. What its wiki takes stands with the wiki. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table project_statistics (
      project_id bigint primary key references projects on delete cascade,
      commit_count bigint not null,
      repository_size bigint not null,
      lfs_objects_size bigint not null,
      job_artifacts_size bigint not null,
      snippets_size bigint not null,
      uploads_size bigint not null,
      container_registry_size bigint not null,
      measured_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index ci_job_artifacts_project on ci_job_artifacts (project_id) include (size)`.execute(db)
}
