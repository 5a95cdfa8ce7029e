import { sql, type Kysely } from 'kysely'

/**
 * Labels and milestones of projects and groups, what is attached to noteables (issues, merge requests, epics) and the
 * record of how that changed. Noteables of all kinds share the tables: a row names the kind by its wire name and the
 * id. What is deleted takes its rows along by the trigger `forget_noteables`, which every table of noteables has.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // As project_counters, for what has numbers within a group.
  await sql`
    create table namespace_counters (
      namespace_id bigint not null references namespaces on delete cascade,
      kind text not null,
      last_iid bigint not null default 0,
      primary key (namespace_id, kind)
    )`.execute(db)

  await sql`
    create table labels (
      id bigint generated always as identity primary key,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      title text not null,
      description text,
      color text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(project_id, namespace_id) = 1),
      constraint labels_of_project unique (project_id, title),
      constraint labels_of_group unique (namespace_id, title)
    )`.execute(db)
  await sql`create index labels_title on labels (title)`.execute(db)
  // A label of a group has a priority in each project of its own.
  await sql`
    create table label_priorities (
      project_id bigint not null references projects on delete cascade,
      label_id bigint not null references labels on delete cascade,
      priority integer not null check (priority >= 0),
      primary key (label_id, project_id)
    )`.execute(db)
  await sql`create index label_priorities_project on label_priorities (project_id)`.execute(db)

  await sql`
    create table noteable_labels (
      noteable_type text not null check (noteable_type in ('Issue', 'MergeRequest', 'Epic')),
      noteable_id bigint not null,
      label_id bigint not null references labels on delete cascade,
      primary key (noteable_type, noteable_id, label_id)
    )`.execute(db)
  await sql`
    create index noteable_labels_label on noteable_labels (label_id, noteable_type, noteable_id)`.execute(db)

  // Without a row somebody is subscribed who takes part; a row says otherwise, or that he is without taking part.
  await sql`
    create table subscriptions (
      user_id bigint not null references users on delete cascade,
      subscribable_type text not null check (subscribable_type in ('Label', 'Issue', 'MergeRequest', 'Epic')),
      subscribable_id bigint not null,
      subscribed boolean not null,
      primary key (subscribable_type, subscribable_id, user_id)
    )`.execute(db)
  await sql`create index subscriptions_user on subscriptions (user_id)`.execute(db)

  await sql`
    create table milestones (
      id bigint generated always as identity primary key,
      iid bigint not null,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      title text not null,
      description text,
      state text not null default 'active' check (state in ('active', 'closed')),
      start_date date,
      due_date date,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(project_id, namespace_id) = 1),
      constraint milestones_iid_of_project unique (project_id, iid),
      constraint milestones_iid_of_group unique (namespace_id, iid)
    )`.execute(db)
  await sql`create index milestones_title on milestones (title)`.execute(db)
  await sql`create index milestones_due_in_project on milestones (project_id, due_date, title, id)`.execute(
    db,
  )

  const events: Readonly<Record<string, string>> = {
    resource_label_events: `
      label_id bigint references labels on delete set null,
      action text not null check (action in ('add', 'remove'))`,
    resource_milestone_events: `
      milestone_id bigint references milestones on delete set null,
      action text not null check (action in ('add', 'remove')),
      state text not null check (state in ('opened', 'closed', 'locked', 'merged'))`,
    resource_state_events: `
      state text not null check (state in ('opened', 'reopened', 'closed', 'merged')),
      source_commit text,
      source_merge_request_id bigint`,
    resource_weight_events: `
      weight integer`,
  }
  for (const [table, columns] of Object.entries(events)) {
    await sql`
      create table ${sql.raw(table)} (
        id bigint generated always as identity primary key,
        noteable_type text not null check (noteable_type in ('Issue', 'MergeRequest', 'Epic')),
        noteable_id bigint not null,
        user_id bigint references users on delete set null,
        created_at timestamptz(3) not null default now(),
        ${sql.raw(columns)}
      )`.execute(db)
    await sql`
      create index ${sql.raw(`${table}_noteable`)} on ${sql.raw(table)} (noteable_type, noteable_id, id)`.execute(
      db,
    )
    await sql`
      create index ${sql.raw(`${table}_user`)} on ${sql.raw(table)} (user_id) where user_id is not null`.execute(
      db,
    )
  }
  await sql`create index resource_label_events_label on resource_label_events (label_id)`.execute(db)
  await sql`
    create index resource_milestone_events_milestone on resource_milestone_events (milestone_id)`.execute(db)

  // To be made a trigger of a table of noteables: `after delete ... referencing old table as gone for each statement
  // execute function forget_noteables('Issue')`.
  await sql`
    create function forget_noteables() returns trigger language plpgsql as $$
    begin
      delete from noteable_labels x using gone where x.noteable_type = tg_argv[0] and x.noteable_id = gone.id;
      delete from subscriptions x using gone where x.subscribable_type = tg_argv[0] and x.subscribable_id = gone.id;
      delete from resource_label_events x using gone where x.noteable_type = tg_argv[0] and x.noteable_id = gone.id;
      delete from resource_milestone_events x using gone
        where x.noteable_type = tg_argv[0] and x.noteable_id = gone.id;
      delete from resource_state_events x using gone where x.noteable_type = tg_argv[0] and x.noteable_id = gone.id;
      delete from resource_weight_events x using gone where x.noteable_type = tg_argv[0] and x.noteable_id = gone.id;
      return null;
    end $$`.execute(db)
  await sql`
    create function forget_subscriptions() returns trigger language plpgsql as $$
    begin
      delete from subscriptions x using gone where x.subscribable_type = tg_argv[0] and x.subscribable_id = gone.id;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger forget_labels after delete on labels referencing old table as gone
    for each statement execute function forget_subscriptions('Label')`.execute(db)
}
