import { sql, type Kysely } from 'kysely'

/** Epics of groups, issues of projects, and what they hold: assignees, links, logged time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // user_notes_count, upvotes and downvotes are kept with the noteable, so that lists neither count nor join; whoever
  // writes notes and reactions keeps them right.
  await sql`
    create table epics (
      id bigint generated always as identity primary key,
      iid bigint not null,
      namespace_id bigint not null references namespaces on delete cascade,
      parent_id bigint references epics on delete set null,
      author_id bigint references users on delete set null,
      title text not null,
      description text,
      state text not null default 'opened' check (state in ('opened', 'closed')),
      confidential boolean not null default false,
      color text not null default '#1068bf',
      start_date_is_fixed boolean not null default false,
      start_date_fixed date,
      due_date_is_fixed boolean not null default false,
      due_date_fixed date,
      relative_position bigint not null default 0,
      user_notes_count integer not null default 0,
      upvotes integer not null default 0,
      downvotes integer not null default 0,
      closed_at timestamptz(3),
      closed_by_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint epics_iid unique (namespace_id, iid)
    )`.execute(db)
  await sql`create index epics_parent on epics (parent_id, relative_position, id)`.execute(db)
  await sql`create index epics_author on epics (author_id) where author_id is not null`.execute(db)
  await sql`create index epics_closed_by on epics (closed_by_id) where closed_by_id is not null`.execute(db)
  for (const column of ['created_at', 'updated_at'] as const) {
    await sql`
      create index ${sql.raw(`epics_${column}`)} on epics (namespace_id, ${sql.ref(column)}, id)`.execute(db)
  }

  // time_estimate and total_time_spent in seconds.
  await sql`
    create table issues (
      id bigint generated always as identity primary key,
      iid bigint not null,
      project_id bigint not null references projects on delete cascade,
      author_id bigint references users on delete set null,
      milestone_id bigint references milestones on delete set null,
      epic_id bigint references epics on delete set null,
      title text not null,
      description text,
      state text not null default 'opened' check (state in ('opened', 'closed')),
      issue_type text not null default 'issue' check (issue_type in ('issue', 'incident', 'test_case', 'task')),
      confidential boolean not null default false,
      discussion_locked boolean,
      due_date date,
      weight integer check (weight >= 0),
      health_status text check (health_status in ('on_track', 'needs_attention', 'at_risk')),
      relative_position bigint,
      epic_position bigint not null default 0,
      time_estimate integer not null default 0 check (time_estimate >= 0),
      total_time_spent integer not null default 0 check (total_time_spent >= 0),
      user_notes_count integer not null default 0,
      upvotes integer not null default 0,
      downvotes integer not null default 0,
      moved_to_id bigint references issues on delete set null,
      duplicated_to_id bigint references issues on delete set null,
      closed_at timestamptz(3),
      closed_by_id bigint references users on delete set null,
      last_edited_at timestamptz(3),
      last_edited_by_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint issues_iid unique (project_id, iid)
    )`.execute(db)
  for (const column of ['created_at', 'updated_at', 'due_date', 'relative_position'] as const) {
    await sql`
      create index ${sql.raw(`issues_${column}`)} on issues (project_id, ${sql.ref(column)}, id)`.execute(db)
  }
  // Lists over all projects, and those of what concerns one person.
  await sql`create index issues_newest on issues (created_at, id)`.execute(db)
  await sql`create index issues_latest on issues (updated_at, id)`.execute(db)
  await sql`create index issues_author on issues (author_id, created_at, id)`.execute(db)
  await sql`create index issues_milestone on issues (milestone_id, created_at, id)`.execute(db)
  await sql`create index issues_epic on issues (epic_id, epic_position, id)`.execute(db)
  for (const column of ['moved_to_id', 'duplicated_to_id', 'closed_by_id', 'last_edited_by_id'] as const) {
    await sql`
      create index ${sql.raw(`issues_${column}`)} on issues (${sql.ref(column)})
      where ${sql.ref(column)} is not null`.execute(db)
  }
  await sql`create index issues_title_text on issues using gin (title gin_trgm_ops)`.execute(db)
  await sql`create index issues_description_text on issues using gin (description gin_trgm_ops)`.execute(db)

  await sql`
    create table issue_assignees (
      issue_id bigint not null references issues on delete cascade,
      user_id bigint not null references users on delete cascade,
      primary key (issue_id, user_id)
    )`.execute(db)
  await sql`create index issue_assignees_user on issue_assignees (user_id, issue_id)`.execute(db)

  await sql`
    create table issue_links (
      id bigint generated always as identity primary key,
      source_id bigint not null references issues on delete cascade,
      target_id bigint not null references issues on delete cascade,
      link_type text not null check (link_type in ('relates_to', 'blocks')),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (source_id <> target_id)
    )`.execute(db)
  // One link between two, whichever way it was made.
  await sql`
    create unique index issue_links_pair on issue_links (least(source_id, target_id), greatest(source_id, target_id))`.execute(
    db,
  )
  await sql`create index issue_links_source on issue_links (source_id)`.execute(db)
  await sql`create index issue_links_target on issue_links (target_id)`.execute(db)

  await sql`
    create table epic_links (
      id bigint generated always as identity primary key,
      source_id bigint not null references epics on delete cascade,
      target_id bigint not null references epics on delete cascade,
      link_type text not null check (link_type in ('relates_to', 'blocks')),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (source_id <> target_id)
    )`.execute(db)
  await sql`
    create unique index epic_links_pair on epic_links (least(source_id, target_id), greatest(source_id, target_id))`.execute(
    db,
  )
  await sql`create index epic_links_source on epic_links (source_id)`.execute(db)
  await sql`create index epic_links_target on epic_links (target_id)`.execute(db)

  // Time spent, in seconds; what takes some back is negative. The sum is kept with the noteable.
  await sql`
    create table timelogs (
      id bigint generated always as identity primary key,
      noteable_type text not null check (noteable_type in ('Issue', 'MergeRequest')),
      noteable_id bigint not null,
      user_id bigint references users on delete set null,
      time_spent integer not null,
      summary text,
      spent_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index timelogs_noteable on timelogs (noteable_type, noteable_id, id)`.execute(db)
  await sql`create index timelogs_user on timelogs (user_id) where user_id is not null`.execute(db)

  await sql`
    create function forget_timelogs() returns trigger language plpgsql as $$
    begin
      delete from timelogs x using gone where x.noteable_type = tg_argv[0] and x.noteable_id = gone.id;
      return null;
    end $$`.execute(db)
  for (const [table, type] of [
    ['issues', 'Issue'],
    ['epics', 'Epic'],
  ] as const) {
    await sql`
      create trigger forget_noteables after delete on ${sql.raw(table)} referencing old table as gone
      for each statement execute function forget_noteables(${sql.lit(type)})`.execute(db)
  }
  await sql`
    create trigger forget_timelogs after delete on issues referencing old table as gone
    for each statement execute function forget_timelogs('Issue')`.execute(db)
}
