import { sql, type Kysely } from 'kysely'

/** What a search cluster is told, and how far it has been told. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await state(db)
  await queue(db)
  await changes(db)
  await settings(db)
}

/**
 * One row. recording: changes are written down. ready: the index was begun with all that is recorded since; it is not
 * where a setting changed what belongs into it. since: a transaction begun when that was seen; what began before it may
 * have recorded nothing, so that a filling waits for its end. generation: in the names of the indices, a new one for each
 * filling from the start. due: the first lane is to look whether the index still is as it should be. marker: the last change of that filling, once all are queued. serving: the generation that
 * is searched in.
 */
async function state(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table search_state (
      id integer primary key check (id = 1),
      name text not null,
      recording boolean not null default false,
      ready boolean not null default false,
      since xid8,
      generation integer not null default 0,
      begun_at timestamptz(3) not null default '-infinity',
      marker bigint,
      due boolean not null default false,
      serving integer
    )`.execute(db)
  await sql`
    insert into search_state (id, name) values (1, 'guildhall-' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 8))`.execute(
    db,
  )
  // Stands in each document: of two who write one at once, who read it later wins.
  await sql`create sequence search_versions`.execute(db)
}

async function queue(db: Kysely<unknown>): Promise<void> {
  // Rows are only added and taken away, so that writers never wait for one another.
  await sql`
    create table search_changes (
      id bigint generated always as identity primary key,
      kind text not null,
      record_id bigint not null
    )`.execute(db)
  // How far a filling has come with things of each kind.
  await sql`
    create table search_fillings (
      kind text primary key,
      after_id bigint not null default 0,
      done boolean not null default false
    )`.execute(db)
  // Who takes changes from the queue: the lane of a record is the rest of its id.
  await sql`
    create table search_lanes (
      id integer primary key,
      attempts integer not null default 0,
      due_at timestamptz(3) not null default '-infinity',
      leased_until timestamptz(3)
    )`.execute(db)
  // due_at: null while there is nothing to be done. wanted: grows with each change.
  await sql`
    create table search_repositories (
      id bigint generated always as identity primary key,
      kind text not null check (kind in ('code', 'pages')),
      record_id bigint not null,
      generation integer,
      commit text,
      wanted bigint not null default 1,
      attempts integer not null default 0,
      due_at timestamptz(3) default now(),
      leased_until timestamptz(3),
      constraint search_repositories_once unique (kind, record_id)
    )`.execute(db)
  await sql`create index search_repositories_due on search_repositories (due_at) where due_at is not null`.execute(
    db,
  )
}

/** Written in the transaction of the change, so that none is lost. Where nothing is recorded it costs a look at one row. */
async function changes(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function search_note_change() returns trigger language plpgsql as $$
    begin
      if (select s.recording from search_state s) then
        insert into search_changes (kind, record_id)
        select kind, coalesce(new.id, old.id) from unnest(tg_argv) kind;
        perform pg_notify('search_changes', '');
      end if;
      return null;
    end $$`.execute(db)
  const watched: readonly (readonly [table: string, columns: string, ...kinds: string[]])[] = [
    ['issues', 'title, description, state, confidential, project_id', 'issues'],
    ['merge_requests', 'title, description, state, project_id', 'merge_requests'],
    ['milestones', 'title, description, project_id, namespace_id', 'milestones'],
    ['users', 'name, username, state', 'users'],
    ['projects', 'name, path, full_path, description', 'projects'],
  ]
  for (const [table, columns, ...kinds] of watched) {
    await sql`
      create trigger note_search_change after insert or delete or update of ${sql.raw(columns)} on ${sql.table(table)}
      for each row execute function search_note_change(${sql.join(kinds.map((kind) => sql.lit(kind)))})`.execute(
      db,
    )
  }
  // What the service itself says is not searched.
  for (const [event, row] of [
    ['insert', 'new'],
    ['update of body', 'new'],
    ['delete', 'old'],
  ] as const) {
    await sql`
      create trigger ${sql.raw(`note_search_change_${event.slice(0, 6)}`)} after ${sql.raw(event)} on notes
      for each row when (not ${sql.raw(row)}.system) execute function search_note_change('notes')`.execute(db)
  }
  // The version grows with each ref that moves. A project that lies elsewhere now may be one that is to be indexed.
  await sql`
    create trigger note_search_change_of_code after insert or delete or update of refs_version, default_branch on projects
    for each row execute function search_note_change('code')`.execute(db)
  await sql`
    create trigger note_search_change_of_place after update of namespace_id on projects
    for each row execute function search_note_change('places')`.execute(db)
  await sql`
    create trigger note_search_change_of_place after update of traversal_ids on namespaces
    for each row execute function search_note_change('groups')`.execute(db)
  await sql`
    create trigger note_search_change after insert or delete or update of refs_version on wikis
    for each row execute function search_note_change('pages')`.execute(db)
}

/** What is recorded, and what belongs into the index, from the transaction on that says so. */
async function settings(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function search_settings_changed() returns trigger language plpgsql as $$
    begin
      update search_state set ready = false, since = null, recording = exists (
        select from application_settings s where s.name = 'elasticsearch_indexing' and s.value = 'true'::jsonb);
      return null;
    end $$`.execute(db)
  for (const [event, row] of [
    ['insert', 'new'],
    ['update', 'new'],
    ['delete', 'old'],
  ] as const) {
    await sql`
      create trigger ${sql.raw(`search_settings_changed_${event}`)} after ${sql.raw(event)} on application_settings
      for each row when (${sql.raw(row)}.name in ('elasticsearch_indexing', 'elasticsearch_limit_indexing',
        'elasticsearch_namespace_ids', 'elasticsearch_project_ids'))
      execute function search_settings_changed()`.execute(db)
  }
}
