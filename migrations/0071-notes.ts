import { sql, type Kysely } from 'kysely'

/** Discussions: what people, and the service itself, say about issues, merge requests, epics, snippets and commits. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // What is discussed, from its first note on. Whoever writes a note holds this row, so that notes of one thing come
  // one after the other. `version` grows with every change: it is the place in the stream of changes.
  // notes: all there are. user_notes: those by people that are not internal.
  await sql`
    create table noteables (
      id bigint generated always as identity primary key,
      kind text not null check (kind in ('Issue', 'MergeRequest', 'Epic', 'Snippet', 'Commit')),
      target_id bigint,
      commit_sha text,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      version bigint not null default 0,
      notes integer not null default 0,
      user_notes integer not null default 0,
      discussions integer not null default 0,
      internal_discussions integer not null default 0,
      check ((kind = 'Commit') = (commit_sha is not null)),
      check (num_nonnulls(target_id, commit_sha) = 1),
      check (num_nonnulls(project_id, namespace_id) = 1),
      constraint noteables_target unique (kind, target_id),
      constraint noteables_commit unique (project_id, commit_sha)
    ) with (fillfactor = 70)`.execute(db)
  await sql`create index noteables_namespace on noteables (namespace_id) where namespace_id is not null`.execute(
    db,
  )

  // key: the id that clients know. individual: one comment that nobody has answered.
  // ref_*: what mentioned the noteable; who may not see that does not see the discussion. needs_code: it tells of code.
  // position: where in a diff it stands now; original_position: where it was begun; change_position: where its line
  // was when it was changed or removed.
  await sql`
    create table discussions (
      id bigint generated always as identity primary key,
      key text not null check (key ~ '^[0-9a-f]{40}$'),
      noteable_id bigint not null references noteables on delete cascade,
      started_at timestamptz(3) not null,
      individual boolean not null,
      internal boolean not null default false,
      needs_code boolean not null default false,
      ref_kind text,
      ref_id bigint,
      ref_project_id bigint,
      ref_namespace_id bigint,
      position jsonb,
      original_position jsonb,
      change_position jsonb,
      line_code text,
      commit_id text,
      constraint discussions_key unique (key)
    )`.execute(db)
  await sql`create index discussions_noteable on discussions (noteable_id, started_at, id)`.execute(db)
  await sql`
    create index discussions_referring on discussions (noteable_id) where ref_kind is not null or needs_code`.execute(
    db,
  )
  await sql`create index discussions_reference on discussions (ref_kind, ref_id) where ref_kind is not null`.execute(
    db,
  )
  await sql`create index discussions_in_diffs on discussions (noteable_id) where position is not null`.execute(
    db,
  )

  // action: what a note of the service tells of. created_version, version: of the noteable, when the note was written
  // and when it was last changed.
  await sql`
    create table notes (
      id bigint generated always as identity primary key,
      discussion_id bigint not null references discussions on delete cascade,
      noteable_id bigint not null references noteables on delete cascade,
      author_id bigint references users on delete set null,
      updated_by_id bigint references users on delete set null,
      body text not null,
      system boolean not null default false,
      action text,
      resolvable boolean not null default false,
      resolved_at timestamptz(3),
      resolved_by_id bigint references users on delete set null,
      created_version bigint not null,
      version bigint not null,
      created_at timestamptz(3) not null,
      updated_at timestamptz(3) not null,
      check (system = (action is not null))
    )`.execute(db)
  await sql`create index notes_discussion on notes (discussion_id, created_at, id)`.execute(db)
  await sql`create index notes_created_at on notes (noteable_id, created_at, id)`.execute(db)
  await sql`create index notes_updated_at on notes (noteable_id, updated_at, id)`.execute(db)
  await sql`create index notes_version on notes (noteable_id, version)`.execute(db)
  await sql`create index notes_author on notes (author_id)`.execute(db)
  await sql`create index notes_updated_by on notes (updated_by_id) where updated_by_id is not null`.execute(
    db,
  )
  await sql`create index notes_resolved_by on notes (resolved_by_id) where resolved_by_id is not null`.execute(
    db,
  )
  await sql`
    create index notes_open on notes (noteable_id) where resolvable and resolved_at is null`.execute(db)

  // For those who were away while a note was deleted.
  await sql`
    create table deleted_notes (
      noteable_id bigint not null references noteables on delete cascade,
      version bigint not null,
      note_id bigint not null,
      discussion_key text not null,
      internal boolean not null,
      primary key (noteable_id, version, note_id)
    )`.execute(db)

  await sql`
    create function forget_discussions() returns trigger language plpgsql as $$
    begin
      delete from noteables x using gone where x.kind = tg_argv[0] and x.target_id = gone.id;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger forget_discussions after delete on snippets referencing old table as gone
    for each statement execute function forget_discussions('Snippet')`.execute(db)
}
