import { sql, type Kysely } from 'kysely'

/** What hangs on discussions: reactions, to-dos, who wants to be told what, and files to be shown in texts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, kind] of [
    ['issues', 'Issue'],
    ['epics', 'Epic'],
  ] as const) {
    await sql`
      create trigger forget_discussions after delete on ${sql.raw(table)} referencing old table as gone
      for each statement execute function forget_discussions(${sql.lit(kind)})`.execute(db)
  }

  await sql`
    create table award_emoji (
      id bigint generated always as identity primary key,
      awardable_kind text not null check (awardable_kind in ('Issue', 'MergeRequest', 'Epic', 'Snippet', 'Note')),
      awardable_id bigint not null,
      user_id bigint not null references users on delete cascade,
      name text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint award_emoji_once unique (awardable_kind, awardable_id, user_id, name)
    )`.execute(db)
  await sql`create index award_emoji_awardable on award_emoji (awardable_kind, awardable_id, id)`.execute(db)
  await sql`create index award_emoji_user on award_emoji (user_id)`.execute(db)

  // note_id: the note that made it, with which it goes.
  await sql`
    create table todos (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      author_id bigint references users on delete cascade,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      action text not null check (action in ('assigned', 'mentioned', 'build_failed', 'marked', 'approval_required',
        'unmergeable', 'directly_addressed', 'merge_train_removed', 'review_requested', 'member_access_requested',
        'review_submitted')),
      target_kind text not null,
      target_id bigint,
      commit_sha text,
      note_id bigint references notes on delete cascade,
      state text not null default 'pending' check (state in ('pending', 'done')),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(target_id, commit_sha) = 1)
    )`.execute(db)
  await sql`create index todos_user on todos (user_id, state, id desc)`.execute(db)
  await sql`create index todos_target on todos (target_kind, target_id, user_id)`.execute(db)
  await sql`create unique index todos_note on todos (note_id, user_id) where note_id is not null`.execute(db)
  await sql`create index todos_author on todos (author_id) where author_id is not null`.execute(db)
  await sql`create index todos_project on todos (project_id) where project_id is not null`.execute(db)
  await sql`create index todos_namespace on todos (namespace_id) where namespace_id is not null`.execute(db)

  await sql`
    create function forget_reactions() returns trigger language plpgsql as $$
    begin
      delete from award_emoji x using gone where x.awardable_kind = tg_argv[0] and x.awardable_id = gone.id;
      delete from todos x using gone where x.target_kind = tg_argv[0] and x.target_id = gone.id;
      return null;
    end $$`.execute(db)
  for (const [table, kind] of [
    ['issues', 'Issue'],
    ['epics', 'Epic'],
    ['snippets', 'Snippet'],
    ['notes', 'Note'],
  ] as const) {
    await sql`
      create trigger forget_reactions after delete on ${sql.raw(table)} referencing old table as gone
      for each statement execute function forget_reactions(${sql.lit(kind)})`.execute(db)
  }

  // Of a user everywhere, in one group, or in one project. events: what a level of one's own is told of.
  await sql`
    create table notification_settings (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      level text not null check (level in ('disabled', 'participating', 'watch', 'global', 'mention', 'custom')),
      events jsonb not null default '{}',
      notification_email text,
      check (num_nonnulls(project_id, namespace_id) <= 1),
      constraint notification_settings_place unique nulls not distinct (user_id, project_id, namespace_id)
    )`.execute(db)
  await sql`
    create index notification_settings_project on notification_settings (project_id) where project_id is not null`.execute(
    db,
  )
  await sql`
    create index notification_settings_namespace on notification_settings (namespace_id)
    where namespace_id is not null`.execute(db)

  await sql`
    create table uploads (
      id bigint generated always as identity primary key,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      secret text not null check (secret ~ '^[0-9a-f]{32}$'),
      filename text not null,
      digest text not null,
      size bigint not null,
      uploaded_by_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      check (num_nonnulls(project_id, namespace_id) = 1),
      constraint uploads_secret unique (secret)
    )`.execute(db)
  await sql`create index uploads_project on uploads (project_id, id desc) where project_id is not null`.execute(
    db,
  )
  await sql`
    create index uploads_namespace on uploads (namespace_id, id desc) where namespace_id is not null`.execute(
    db,
  )
  await sql`create index uploads_digest on uploads (digest)`.execute(db)
  await sql`create index uploads_user on uploads (uploaded_by_id) where uploaded_by_id is not null`.execute(
    db,
  )

  // However an upload goes, with its project or by itself, its content goes after it.
  await sql`
    create function remove_upload_content() returns trigger language plpgsql as $$
    begin
      perform graphile_worker.add_job(
        identifier => 'uploads:remove-content',
        payload => json_build_object('digests', (select json_agg(distinct gone.digest) from gone)))
      where exists (select from gone);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger uploads_removed after delete on uploads referencing old table as gone
    for each statement execute function remove_upload_content()`.execute(db)
}
