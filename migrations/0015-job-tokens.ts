import { sql, type Kysely } from 'kysely'

/** The keys that sign identity tokens of jobs, and whose jobs reach a project. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // secret: the private key (PKCS #8), encrypted; public: the other half, as it is published.
  await sql`
    create table identity_keys (
      id bigint generated always as identity primary key,
      kid text not null unique,
      secret text not null,
      public jsonb not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)

  // Of one project: jobs of another project, or of all projects below a group, may come with their tokens.
  await sql`
    create table ci_job_token_allowlist (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      target_project_id bigint references projects on delete cascade,
      target_namespace_id bigint references namespaces on delete cascade,
      added_by_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      check (num_nonnulls(target_project_id, target_namespace_id) = 1),
      constraint ci_job_token_allowlist_project unique (project_id, target_project_id),
      constraint ci_job_token_allowlist_namespace unique (project_id, target_namespace_id)
    )`.execute(db)
  for (const column of ['target_project_id', 'target_namespace_id', 'added_by_id'] as const) {
    await sql`
      create index ${sql.raw(`ci_job_token_allowlist_${column}`)} on ci_job_token_allowlist (${sql.ref(column)})
      where ${sql.ref(column)} is not null`.execute(db)
  }
  // Whom the list lets in is remembered; see 0009.
  for (const event of ['insert', 'delete'] as const) {
    await sql`
      create trigger ${sql.raw(`mark_access_after_${event}`)} after ${sql.raw(event)} on ci_job_token_allowlist
      for each statement execute function tree_marks_access()`.execute(db)
  }
}
