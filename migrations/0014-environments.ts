import { sql, type Kysely } from 'kysely'

/** Environments, what is deployed to them, and resource groups. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table environments (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      slug text not null,
      external_url text,
      tier text not null check (tier in ('production', 'staging', 'testing', 'development', 'other')),
      description text,
      state text not null default 'available' check (state in ('available', 'stopping', 'stopped')),
      auto_stop_at timestamptz(3),
      auto_stop_setting text not null default 'always' check (auto_stop_setting in ('always', 'with_action')),
      auto_delete_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint environments_name unique (project_id, name)
    )`.execute(db)
  await sql`create index environments_project on environments (project_id, id)`.execute(db)
  await sql`create index environments_state on environments (project_id, state, id)`.execute(db)
  await sql`create index environments_search on environments (project_id, lower(name) text_pattern_ops)`.execute(
    db,
  )
  await sql`
    create index environments_auto_stop on environments (auto_stop_at)
    where auto_stop_at is not null and state = 'available'`.execute(db)
  await sql`
    create index environments_auto_delete on environments (auto_delete_at) where auto_delete_at is not null`.execute(
    db,
  )

  // on_stop: name of the job, of the same pipeline, that stops the environment.
  await sql`
    create table deployments (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      iid bigint not null,
      environment_id bigint not null references environments on delete cascade,
      job_id bigint references ci_jobs on delete set null,
      by_job boolean not null,
      user_id bigint references users on delete set null,
      status text not null
        check (status in ('created', 'running', 'success', 'failed', 'canceled', 'skipped', 'blocked')),
      ref text not null,
      tag boolean not null,
      sha text not null,
      on_stop text,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      finished_at timestamptz(3),
      constraint deployments_iid unique (project_id, iid)
    )`.execute(db)
  await sql`create unique index deployments_job on deployments (job_id) where job_id is not null`.execute(db)
  await sql`create index deployments_user on deployments (user_id) where user_id is not null`.execute(db)
  await sql`create index deployments_environment on deployments (environment_id, id)`.execute(db)
  await sql`
    create index deployments_success on deployments (environment_id, id) where status = 'success'`.execute(db)
  for (const column of ['status', 'ref', 'created_at', 'updated_at', 'finished_at'] as const) {
    await sql`
      create index ${sql.raw(`deployments_${column}`)} on deployments (project_id, ${sql.ref(column)}, id)`.execute(
      db,
    )
  }
  await sql`create index deployments_project on deployments (project_id, id)`.execute(db)

  // deploys: some job of the pipeline names an environment. environment_url: with the variables of the job put in.
  await sql`alter table ci_pipelines add column deploys boolean not null default false`.execute(db)
  await sql`alter table ci_jobs add column environment_url text`.execute(db)

  await sql`
    create table ci_resource_groups (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      key text not null,
      process_mode text not null default 'unordered'
        check (process_mode in ('unordered', 'oldest_first', 'newest_first', 'newest_ready_first')),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint ci_resource_groups_key unique (project_id, key)
    )`.execute(db)
  await sql`create index ci_resource_groups_project on ci_resource_groups (project_id, id)`.execute(db)
  await sql`
    create index ci_jobs_upcoming on ci_jobs (project_id, resource_group, pipeline_id, id)
    where resource_group is not null and not retried and status in ('created', 'waiting_for_resource')`.execute(
    db,
  )
}
