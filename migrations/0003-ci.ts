import { sql, type Kysely } from 'kysely'

const pipelineStatus = sql`(
  'created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'success', 'failed', 'canceling', 'canceled',
  'skipped', 'manual', 'scheduled')`

/** CI/CD: variables, pipelines, jobs, artifacts, runners. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // secret: the value, encrypted.
  await sql`
    create table ci_variables (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      key text not null,
      secret text not null,
      variable_type text not null default 'env_var' check (variable_type in ('env_var', 'file')),
      environment_scope text not null default '*',
      description text,
      protected boolean not null default false,
      masked boolean not null default false,
      hidden boolean not null default false,
      raw boolean not null default false,
      check (masked or not hidden),
      constraint ci_variables_key_scope unique (project_id, key, environment_scope)
    )`.execute(db)
  await sql`create index ci_variables_project on ci_variables (project_id, id)`.execute(db)

  await sql`
    create table ci_pipelines (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      iid bigint not null,
      user_id bigint references users on delete set null,
      status text not null default 'created' check (status in ${pipelineStatus}),
      source text not null,
      ref text not null,
      tag boolean not null default false,
      sha text not null,
      before_sha text not null default '0000000000000000000000000000000000000000',
      protected boolean not null default false,
      name text,
      yaml_errors text,
      failure_reason text,
      auto_canceled_by_id bigint references ci_pipelines on delete set null,
      event_key text,
      has_warnings boolean not null default false,
      cancel_on_new_commit text not null default 'conservative'
        check (cancel_on_new_commit in ('conservative', 'interruptible', 'none')),
      cancel_on_job_failure text not null default 'none' check (cancel_on_job_failure in ('none', 'all')),
      coverage double precision,
      duration integer,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      started_at timestamptz(3),
      finished_at timestamptz(3),
      constraint ci_pipelines_iid unique (project_id, iid),
      constraint ci_pipelines_event unique (event_key)
    )`.execute(db)
  // Within a project ids and iids grow together: both are taken under the lock of the project's counter. Lists are
  // ordered by iid, so that the index of a filter answers the order as well, and no other can be mistaken for it.
  const listed = sql`where source <> 'parent_pipeline'`
  await sql`create index ci_pipelines_list on ci_pipelines (project_id, iid) ${listed}`.execute(db)
  await sql`
    create index ci_pipelines_children on ci_pipelines (project_id, iid) where source = 'parent_pipeline'`.execute(
    db,
  )
  for (const column of ['status', 'ref', 'sha', 'source', 'user_id', 'updated_at', 'name'] as const) {
    await sql`
      create index ${sql.raw(`ci_pipelines_${column}`)}
      on ci_pipelines (project_id, ${sql.ref(column)}, iid) ${listed}`.execute(db)
  }
  await sql`
    create index ci_pipelines_yaml_errors on ci_pipelines (project_id, iid)
    where yaml_errors is not null and source <> 'parent_pipeline'`.execute(db)
  await sql`
    create index ci_pipelines_alive on ci_pipelines (project_id, ref, id) where status in
    ('created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'canceling', 'manual', 'scheduled')
    `.execute(db)

  // How many listed pipelines there are of each 2,000 iids, and since when, so that a page far down, or a time long ago,
  // is found without walking there.
  await sql`
    create table ci_pipeline_blocks (
      project_id bigint not null references projects on delete cascade,
      block bigint not null,
      live integer not null,
      created_at timestamptz(3) not null default now(),
      primary key (project_id, block)
    )`.execute(db)

  // secret: the values, encrypted: pipeline variables carry secrets too.
  await sql`
    create table ci_pipeline_variables (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      pipeline_id bigint not null references ci_pipelines on delete cascade,
      key text not null,
      secret text not null,
      variable_type text not null default 'env_var' check (variable_type in ('env_var', 'file')),
      raw boolean not null default false,
      constraint ci_pipeline_variables_key unique (pipeline_id, key)
    )`.execute(db)

  await sql`
    create table ci_runners (
      id bigint generated always as identity primary key,
      runner_type text not null check (runner_type in ('instance_type', 'group_type', 'project_type')),
      namespace_id bigint references namespaces on delete cascade,
      token_digest text not null,
      token_hint text not null,
      token_expires_at timestamptz(3),
      name text,
      description text,
      maintenance_note text,
      tag_list text[] not null default '{}',
      run_untagged boolean not null default true,
      paused boolean not null default false,
      locked boolean not null default false,
      access_level text not null default 'not_protected' check (access_level in ('not_protected', 'ref_protected')),
      maximum_timeout integer,
      creation text not null default 'api' check (creation in ('api', 'registration', 'built_in')),
      created_by_id bigint references users on delete set null,
      contacted_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint ci_runners_token unique (token_digest),
      check ((runner_type = 'group_type') = (namespace_id is not null)),
      check (run_untagged or cardinality(tag_list) > 0)
    )`.execute(db)
  await sql`
    create table ci_runner_projects (
      runner_id bigint not null references ci_runners on delete cascade,
      project_id bigint not null references projects on delete cascade,
      primary key (project_id, runner_id)
    )`.execute(db)
  await sql`create index ci_runner_projects_runner on ci_runner_projects (runner_id)`.execute(db)
  await sql`
    create table ci_runner_managers (
      id bigint generated always as identity primary key,
      runner_id bigint not null references ci_runners on delete cascade,
      system_id text not null,
      version text,
      revision text,
      platform text,
      architecture text,
      ip_address text,
      contacted_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint ci_runner_managers_system unique (runner_id, system_id)
    )`.execute(db)

  // definition: what the compiler made of the job (steps, artifacts, cache, rules' outcome ...), as plain data.
  // needs: names of the jobs that come before; null: all of earlier stages.
  await sql`
    create table ci_jobs (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      pipeline_id bigint not null references ci_pipelines on delete cascade,
      kind text not null default 'build' check (kind in ('build', 'bridge', 'external')),
      name text not null,
      stage text not null,
      stage_index integer not null,
      status text not null default 'created' check (status in ${pipelineStatus}),
      run_when text not null default 'on_success',
      allow_failure boolean not null default false,
      definition jsonb not null,
      needs text[],
      start_in integer,
      interruptible boolean not null default false,
      resource_group text,
      tag_list text[] not null default '{}',
      ref text not null,
      tag boolean not null default false,
      protected boolean not null default false,
      user_id bigint references users on delete set null,
      runner_id bigint references ci_runners on delete set null,
      runner_manager_id bigint references ci_runner_managers on delete set null,
      token_digest text,
      retried boolean not null default false,
      attempt integer not null default 0,
      failure_reason text,
      exit_code integer,
      coverage double precision,
      debug_trace boolean not null default false,
      cancel_gracefully boolean not null default false,
      artifact_access text not null default 'all' check (artifact_access in ('all', 'developer', 'maintainer', 'none')),
      timeout integer,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      queued_at timestamptz(3),
      scheduled_at timestamptz(3),
      started_at timestamptz(3),
      finished_at timestamptz(3),
      erased_at timestamptz(3),
      artifacts_expire_at timestamptz(3),
      manual_variables jsonb
    )`.execute(db)
  await sql`create index ci_jobs_pipeline on ci_jobs (pipeline_id, id)`.execute(db)
  await sql`create index ci_jobs_project on ci_jobs (project_id, id)`.execute(db)
  await sql`create index ci_jobs_status on ci_jobs (project_id, status, id)`.execute(db)
  await sql`create index ci_jobs_queue on ci_jobs (queued_at, id) where status = 'pending'`.execute(db)
  await sql`create index ci_jobs_scheduled on ci_jobs (scheduled_at) where status = 'scheduled'`.execute(db)
  await sql`create index ci_jobs_running on ci_jobs (project_id, id) where status in ('running', 'canceling')`.execute(
    db,
  )
  await sql`
    create index ci_jobs_resource on ci_jobs (project_id, resource_group, id) where resource_group is not null
    and status in ('waiting_for_resource', 'preparing', 'pending', 'running', 'canceling')`.execute(db)
  await sql`create index ci_jobs_runner on ci_jobs (runner_id, id) where runner_id is not null`.execute(db)
  await sql`create unique index ci_jobs_token on ci_jobs (token_digest) where token_digest is not null`.execute(
    db,
  )

  await sql`
    create table ci_job_artifacts (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      job_id bigint not null references ci_jobs on delete cascade,
      file_type text not null,
      file_format text not null check (file_format in ('zip', 'gzip', 'raw')),
      filename text not null,
      size bigint not null,
      digest text not null,
      access text not null default 'public' check (access in ('public', 'private')),
      expire_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint ci_job_artifacts_type unique (job_id, file_type)
    )`.execute(db)
  await sql`create index ci_job_artifacts_digest on ci_job_artifacts (digest)`.execute(db)
  await sql`create index ci_job_artifacts_expiry on ci_job_artifacts (expire_at) where expire_at is not null`.execute(
    db,
  )
}
