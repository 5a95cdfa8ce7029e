import { sql, type Kysely } from 'kysely'

/** Groups and projects that are fetched from other instances. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // access_token: for the source, encrypted, as long as it is needed.
  await sql`
    create table bulk_imports (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      status text not null default 'created' check (status in
        ('created', 'started', 'finished', 'timeout', 'failed', 'canceled')),
      source_url text not null,
      access_token text,
      correlation_id text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (status in ('created', 'started') or access_token is null)
    )`.execute(db)
  await sql`create index bulk_imports_user on bulk_imports (user_id, id)`.execute(db)
  await sql`create index bulk_imports_status on bulk_imports (user_id, status, id)`.execute(db)

  // source_id: of the place on the source, once it is known. namespace_id, project_id: what was made of it here.
  await sql`
    create table bulk_import_entities (
      id bigint generated always as identity primary key,
      bulk_import_id bigint not null references bulk_imports on delete cascade,
      user_id bigint not null references users on delete cascade,
      parent_id bigint references bulk_import_entities on delete cascade,
      kind text not null check (kind in ('group', 'project')),
      source_full_path text not null,
      source_id bigint,
      destination_slug text not null,
      destination_namespace text not null,
      migrate_projects boolean not null,
      migrate_memberships boolean not null,
      status text not null default 'created' check (status in
        ('created', 'started', 'finished', 'timeout', 'failed', 'canceled')),
      namespace_id bigint references namespaces on delete set null,
      project_id bigint references projects on delete set null,
      has_failures boolean not null default false,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nulls(namespace_id, project_id) > 0)
    )`.execute(db)
  await sql`create index bulk_import_entities_user on bulk_import_entities (user_id, id)`.execute(db)
  await sql`create index bulk_import_entities_status on bulk_import_entities (user_id, status, id)`.execute(
    db,
  )
  await sql`create index bulk_import_entities_import on bulk_import_entities (bulk_import_id, id)`.execute(db)
  for (const column of ['parent_id', 'namespace_id', 'project_id'] as const) {
    await sql`
      create index ${sql.raw(`bulk_import_entities_${column}`)} on bulk_import_entities (${sql.ref(column)})
      where ${sql.ref(column)} is not null`.execute(db)
  }

  // What has to be done for an entity, stage by stage: a relation in as many pieces as the source has made of it.
  // leased_until: of who does it.
  await sql`
    create table bulk_import_steps (
      id bigint generated always as identity primary key,
      entity_id bigint not null references bulk_import_entities on delete cascade,
      stage integer not null,
      relation text not null,
      number integer not null,
      state text not null default 'created' check (state in
        ('created', 'started', 'finished', 'failed', 'canceled')),
      attempts integer not null default 0,
      due_at timestamptz(3) not null default now(),
      leased_until timestamptz(3),
      source_objects integer not null default 0,
      fetched integer not null default 0,
      imported integer not null default 0,
      created_at timestamptz(3) not null default now(),
      check ((state = 'started') = (leased_until is not null)),
      constraint bulk_import_steps_once unique (entity_id, stage, relation, number)
    )`.execute(db)
  await sql`
    create index bulk_import_steps_open on bulk_import_steps (id) where state in ('created', 'started')`.execute(
    db,
  )
  await sql`
    create index bulk_import_steps_open_of on bulk_import_steps (entity_id, stage)
    where state in ('created', 'started')`.execute(db)

  await sql`
    create table bulk_import_failures (
      id bigint generated always as identity primary key,
      entity_id bigint not null references bulk_import_entities on delete cascade,
      relation text not null,
      step text not null check (step in ('extractor', 'transformer', 'loader')),
      exception_class text not null,
      exception_message text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index bulk_import_failures_entity on bulk_import_failures (entity_id, id)`.execute(db)
}
