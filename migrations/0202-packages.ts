import { sql, type Kysely } from 'kysely'

/** What is published under names and versions: packages and their files, the content of which is kept by its digest. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table packages (
      id bigint generated always as identity primary key,
      project_id bigint not null,
      package_type text not null check (package_type in ('generic')),
      name text not null,
      version text not null,
      status text not null default 'default' check (status in ('default', 'hidden')),
      creator_id bigint references users on delete set null,
      -- Of the job that published it last.
      pipeline_id bigint references ci_pipelines on delete set null,
      last_downloaded_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint packages_project foreign key (project_id) references projects on delete cascade,
      constraint packages_version unique (project_id, package_type, name, version)
    )`.execute(db)
  for (const order of ['created_at', 'name', 'version', 'package_type']) {
    await sql`create index ${sql.raw(`packages_by_${order}`)} on packages (project_id, ${sql.raw(order)}, id)`.execute(
      db,
    )
  }
  await sql`create index packages_creator on packages (creator_id) where creator_id is not null`.execute(db)
  await sql`create index packages_pipeline on packages (pipeline_id) where pipeline_id is not null`.execute(
    db,
  )

  // Of several files of one name the newest counts.
  await sql`
    create table package_files (
      id bigint generated always as identity primary key,
      package_id bigint not null references packages on delete cascade,
      file_name text not null,
      size bigint not null,
      digest text not null,
      md5 text not null,
      sha1 text not null,
      pipeline_id bigint references ci_pipelines on delete set null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index package_files_package on package_files (package_id, id)`.execute(db)
  await sql`create index package_files_name on package_files (package_id, file_name, id desc)`.execute(db)
  await sql`create index package_files_digest on package_files (digest)`.execute(db)
  await sql`create index package_files_pipeline on package_files (pipeline_id) where pipeline_id is not null`.execute(
    db,
  )

  // However a file goes, with its package, its project or by itself, its content goes after it.
  await sql`
    create function remove_package_content() returns trigger language plpgsql as $$
    begin
      perform graphile_worker.add_job(
        identifier => 'packages:remove-content',
        payload => json_build_object('digests', (select json_agg(distinct gone.digest) from gone)))
      where exists (select from gone);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger package_files_removed after delete on package_files referencing old table as gone
    for each statement execute function remove_package_content()`.execute(db)
}
