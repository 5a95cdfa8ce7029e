import { sql, type Kysely } from 'kysely'

/** Pipelines at fixed times. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // ref: the full name. next_run_at: null where none is to come.
  await sql`
    create table ci_pipeline_schedules (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      owner_id bigint references users on delete set null,
      description text not null,
      ref text not null,
      cron text not null,
      cron_timezone text not null default 'UTC',
      active boolean not null default true,
      next_run_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index ci_pipeline_schedules_project on ci_pipeline_schedules (project_id, id)`.execute(db)
  await sql`
    create index ci_pipeline_schedules_owner on ci_pipeline_schedules (owner_id) where owner_id is not null`.execute(
    db,
  )
  await sql`create index ci_pipeline_schedules_due on ci_pipeline_schedules (next_run_at) where active`.execute(
    db,
  )

  // secret: the values, encrypted.
  await sql`
    create table ci_pipeline_schedule_variables (
      id bigint generated always as identity primary key,
      schedule_id bigint not null references ci_pipeline_schedules on delete cascade,
      key text not null,
      secret text not null,
      variable_type text not null default 'env_var' check (variable_type in ('env_var', 'file')),
      raw boolean not null default false,
      constraint ci_pipeline_schedule_variables_key unique (schedule_id, key)
    )`.execute(db)

  await sql`
    alter table ci_pipelines
      add column schedule_id bigint references ci_pipeline_schedules on delete set null`.execute(db)
  await sql`
    create index ci_pipelines_schedule on ci_pipelines (schedule_id, id) where schedule_id is not null`.execute(
    db,
  )
}
