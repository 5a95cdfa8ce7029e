import { sql, type Kysely } from 'kysely'

/** Projects, and snippets of people, that are brought from hosts of other kinds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // What is told of an import of a project stands with the project. kind: of the host. address: of the host where it is
  // not the public one. credentials: for the host, encrypted, until the end. options: as they were asked for.
  // source: what the import knows the repository there by.
  await sql`
    create table host_imports (
      id bigint generated always as identity primary key,
      project_id bigint unique references projects on delete cascade,
      user_id bigint references users on delete set null,
      kind text not null check (kind in ('github', 'bitbucket', 'bitbucket_server')),
      address text,
      full_name text not null,
      credentials text,
      options jsonb not null default '{}',
      source jsonb not null default '{}',
      state text not null default 'scheduled' check (state in
        ('scheduled', 'started', 'finished', 'failed', 'canceled')),
      created_at timestamptz(3) not null default now(),
      check (state in ('scheduled', 'started') or credentials is null)
    )`.execute(db)
  await sql`create index host_imports_user on host_imports (user_id)`.execute(db)

  // What is still to be done, stage by stage; what is done is gone. cursor: where a relation goes on. number: how many
  // pieces of it there were up to this one. leased_until: of who does it.
  await sql`
    create table host_import_steps (
      id bigint generated always as identity primary key,
      import_id bigint not null references host_imports on delete cascade,
      kind text not null,
      stage integer not null,
      relation text not null,
      number integer not null default 1,
      cursor text not null default '',
      state text not null default 'created' check (state in ('created', 'started')),
      attempts integer not null default 0,
      due_at timestamptz(3) not null default now(),
      leased_until timestamptz(3),
      check ((state = 'started') = (leased_until is not null)),
      constraint host_import_steps_once unique (import_id, relation, number)
    )`.execute(db)
  await sql`create index host_import_steps_stage on host_import_steps (import_id, stage)`.execute(db)
  await sql`
    create index host_import_steps_started on host_import_steps (kind, leased_until) where state = 'started'`.execute(
    db,
  )

  // What has been brought already, by what the host knows it by, and what it is here; until the end.
  await sql`
    create table host_import_items (
      import_id bigint not null references host_imports on delete cascade,
      kind text not null,
      source_id text not null,
      target_id bigint,
      primary key (import_id, kind, source_id)
    )`.execute(db)

  // Accounts of the host, and whose they are here; until the end.
  await sql`
    create table host_import_people (
      import_id bigint not null references host_imports on delete cascade,
      login text not null,
      name text not null,
      user_id bigint references users on delete cascade,
      primary key (import_id, login)
    )`.execute(db)
  await sql`
    create index host_import_people_user on host_import_people (user_id) where user_id is not null`.execute(
    db,
  )
}
