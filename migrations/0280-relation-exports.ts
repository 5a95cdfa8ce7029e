import { sql, type Kysely } from 'kysely'

/** Relations of projects and groups, written to files for other instances. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table relation_exports (
      id bigint generated always as identity primary key,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      relation text not null,
      batched boolean not null,
      user_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      check (num_nonnulls(project_id, namespace_id) = 1),
      constraint relation_exports_once unique nulls not distinct (project_id, namespace_id, relation)
    )`.execute(db)
  await sql`
    create index relation_exports_namespace on relation_exports (namespace_id) where namespace_id is not null`.execute(
    db,
  )
  await sql`create index relation_exports_user on relation_exports (user_id) where user_id is not null`.execute(
    db,
  )
  await sql`create index relation_exports_age on relation_exports (created_at)`.execute(db)

  // A file each. after_id: records with higher ids belong to it. leased_until: of who writes it. digest: of the file.
  await sql`
    create table relation_export_batches (
      id bigint generated always as identity primary key,
      export_id bigint not null references relation_exports on delete cascade,
      number integer not null,
      after_id bigint not null default 0,
      state text not null default 'created' check (state in ('created', 'started', 'finished', 'failed')),
      attempts integer not null default 0,
      leased_until timestamptz(3),
      objects integer not null default 0,
      digest text,
      size bigint,
      error text,
      updated_at timestamptz(3) not null default now(),
      check ((state = 'finished') = (digest is not null)),
      check ((state = 'started') = (leased_until is not null)),
      constraint relation_export_batches_number unique (export_id, number)
    )`.execute(db)
  await sql`
    create index relation_export_batches_open on relation_export_batches (id)
    where state in ('created', 'started')`.execute(db)
  await sql`
    create index relation_export_batches_digest on relation_export_batches (digest) where digest is not null`.execute(
    db,
  )

  // However a file goes, with its project or by itself, its content goes after it.
  await sql`
    create function remove_relation_files() returns trigger language plpgsql as $$
    begin
      perform graphile_worker.add_job(
        identifier => 'relation-exports:remove-content',
        payload => json_build_object('digests', (
          select json_agg(distinct gone.digest) from gone where gone.digest is not null)))
      where exists (select from gone where gone.digest is not null);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger relation_files_removed after delete on relation_export_batches referencing old table as gone
    for each statement execute function remove_relation_files()`.execute(db)
}
