import { sql, type Kysely } from 'kysely'

/** How long jobs of top-level namespaces have run on runners of the instance, by month in UTC. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table ci_compute_usage (
      namespace_id bigint not null references namespaces on delete cascade,
      month date not null,
      seconds bigint not null,
      primary key (namespace_id, month)
    )`.execute(db)
  // Whatever ends a job ends it here. Public projects use nothing up.
  await sql`
    create function note_compute_usage() returns trigger language plpgsql as $$
    begin
      insert into ci_compute_usage as u (namespace_id, month, seconds)
      select n.traversal_ids[1], date_trunc('month', new.finished_at at time zone 'UTC')::date,
        greatest(0, ceil(extract(epoch from new.finished_at - new.started_at)))::bigint
      from ci_runners r, projects p join namespaces n on n.id = p.namespace_id
      where r.id = new.runner_id and r.runner_type = 'instance_type' and p.id = new.project_id and p.visibility < 20
      on conflict (namespace_id, month) do update set seconds = u.seconds + excluded.seconds;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger ci_jobs_compute_usage after update of finished_at on ci_jobs for each row
    when (old.finished_at is null and new.finished_at is not null and new.started_at is not null
      and new.runner_id is not null)
    execute function note_compute_usage()`.execute(db)
}
