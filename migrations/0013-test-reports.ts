import { sql, type Kysely } from 'kysely'

/** What is kept of the test reports of jobs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One row for each junit report; suite: the group of the job, which parallel jobs share. time: seconds.
  await sql`
    create table ci_test_summaries (
      job_id bigint primary key references ci_jobs on delete cascade,
      project_id bigint not null references projects on delete cascade,
      pipeline_id bigint not null references ci_pipelines on delete cascade,
      suite text not null,
      time double precision not null,
      success integer not null,
      failed integer not null,
      skipped integer not null,
      error integer not null,
      suite_error text
    )`.execute(db)
  await sql`create index ci_test_summaries_pipeline on ci_test_summaries (pipeline_id, job_id)`.execute(db)
  await sql`create index ci_test_summaries_project on ci_test_summaries (project_id)`.execute(db)

  // Failures on the default branch lately, by a digest of suite, class and name.
  await sql`
    create table ci_test_failures (
      project_id bigint not null references projects on delete cascade,
      test_digest text not null,
      job_id bigint not null references ci_jobs on delete cascade,
      branch text not null,
      failed_at timestamptz(3) not null default now(),
      primary key (project_id, test_digest, job_id)
    )`.execute(db)
  await sql`create index ci_test_failures_job on ci_test_failures (job_id)`.execute(db)
  await sql`create index ci_test_failures_age on ci_test_failures (failed_at)`.execute(db)
}
