import { sql, type Kysely } from 'kysely'

/** Trigger tokens, and what a pipeline was started by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // secret: the token, encrypted, since its owner may read it again; token_hint: the part that others see.
  await sql`
    create table ci_triggers (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      owner_id bigint references users on delete set null,
      description text not null,
      secret text not null,
      token_digest text not null,
      token_hint text not null,
      expires_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint ci_triggers_token unique (token_digest)
    )`.execute(db)
  await sql`create index ci_triggers_project on ci_triggers (project_id, id)`.execute(db)
  await sql`create index ci_triggers_owner on ci_triggers (owner_id) where owner_id is not null`.execute(db)

  // source_job_id: the job, of any project, whose token asked for the pipeline.
  await sql`
    alter table ci_pipelines
      add column trigger_id bigint references ci_triggers on delete set null,
      add column source_job_id bigint references ci_jobs on delete set null`.execute(db)
  await sql`
    create index ci_pipelines_trigger on ci_pipelines (trigger_id, id) where trigger_id is not null`.execute(
    db,
  )
  await sql`
    create index ci_pipelines_source_job on ci_pipelines (source_job_id)
    where source_job_id is not null`.execute(db)
}
