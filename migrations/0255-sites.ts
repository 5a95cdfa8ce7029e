import { sql, type Kysely } from 'kysely'

/**
 * Sites of projects. What a job has published is one content with all files behind one another, and a row for each file
 * that tells where in it the file lies: a site comes and goes as a whole, and no name of a file ever is a path on disk.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table site_deployments (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      -- Empty for the site itself; others stand below it, under this name.
      path_prefix text not null default '',
      root_directory text not null,
      -- What is published stays when the pipeline goes.
      job_id bigint not null,
      pipeline_id bigint not null,
      digest text not null,
      size bigint not null,
      expires_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint site_deployments_place unique (project_id, path_prefix)
    )`.execute(db)
  await sql`create index site_deployments_digest on site_deployments (digest)`.execute(db)
  await sql`create index site_deployments_expiry on site_deployments (expires_at) where expires_at is not null`.execute(
    db,
  )

  await sql`
    create table site_files (
      deployment_id bigint not null references site_deployments on delete cascade,
      path text not null,
      start bigint not null,
      size bigint not null,
      digest text not null,
      primary key (deployment_id, path)
    )`.execute(db)

  await sql`
    create function remove_site_content() returns trigger language plpgsql as $$
    begin
      perform graphile_worker.add_job(
        identifier => 'sites:remove-content',
        payload => json_build_object('digests', (select json_agg(distinct gone.digest) from gone)))
      where exists (select from gone);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger site_deployments_removed after delete on site_deployments referencing old table as gone
    for each statement execute function remove_site_content()`.execute(db)
}
