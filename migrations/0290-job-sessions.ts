import { sql, type Kysely } from 'kysely'

/** Where the terminal of a running job is reached, as its runner said; gone when the job ends, whoever ends it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ci_job_sessions (
      job_id bigint primary key references ci_jobs on delete cascade,
      secret text not null
    )`.execute(db)
  await sql`
    create function end_job_session() returns trigger language plpgsql as $$
    begin
      delete from ci_job_sessions s where s.job_id = new.id;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger ci_jobs_session after update of status on ci_jobs for each row
    when (old.status in ('running', 'canceling') and new.status not in ('running', 'canceling'))
    execute function end_job_session()`.execute(db)
  // For the nodes that hold terminals of the job.
  await sql`
    create function announce_ended_session() returns trigger language plpgsql as $$
    begin
      perform pg_notify('ci_job_sessions', old.job_id::text);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger ci_job_sessions_ended after delete on ci_job_sessions for each row
    execute function announce_ended_session()`.execute(db)
}
