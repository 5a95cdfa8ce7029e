import { sql, type Kysely } from 'kysely'

/** Packages of the formats that package managers speak: what each says of itself, and the tags that lead to versions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table packages
      drop constraint packages_package_type_check,
      add constraint packages_package_type_check
        check (package_type in ('generic', 'npm', 'pypi', 'maven', 'helm', 'nuget')),
      -- Maven keeps files of all versions together in one that has none.
      alter column version drop not null,
      -- The name as its package manager compares it.
      add column name_key text,
      add column metadata jsonb not null default '{}'`.execute(db)
  await sql`update packages set name_key = name`.execute(db)
  await sql`
    alter table packages
      alter column name_key set not null,
      drop constraint packages_version,
      add constraint packages_version unique nulls not distinct (project_id, package_type, name_key, version)`.execute(
    db,
  )
  // For groups and the instance, which look in many projects at once.
  await sql`create index packages_name_key on packages (package_type, name_key, project_id)`.execute(db)
  await sql`alter table package_files add column metadata jsonb not null default '{}'`.execute(db)
  // A channel of charts is listed by its newest files.
  await sql`
    create index package_files_channel on package_files ((metadata ->> 'channel'), package_id)
    where metadata ? 'channel'`.execute(db)

  await sql`
    create table package_tags (
      id bigint generated always as identity primary key,
      package_id bigint not null references packages on delete cascade,
      project_id bigint not null references projects on delete cascade,
      package_type text not null,
      name_key text not null,
      name text not null,
      created_at timestamptz(3) not null default now(),
      constraint package_tags_name unique (project_id, package_type, name_key, name)
    )`.execute(db)
  await sql`create index package_tags_package on package_tags (package_id)`.execute(db)

  await sql`
    create table package_cleanup_policies (
      project_id bigint primary key references projects on delete cascade,
      -- Files of one name in a package; null: all.
      kept_duplicates integer check (kept_duplicates > 0),
      next_run_at timestamptz(3) not null
    )`.execute(db)
  await sql`
    create index package_cleanup_policies_due on package_cleanup_policies (next_run_at)
    where kept_duplicates is not null`.execute(db)
}
