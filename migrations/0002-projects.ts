import { sql, type Kysely } from 'kysely'

/** Projects, routes, memberships, protected branches, and the journal of ref updates. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // settings and feature_levels hold what differs from the defaults of the project settings catalogue.
  // refs_version is bumped with every ref update, so that each node knows when its cached refs are old.
  await sql`
    create table projects (
      id bigint generated always as identity primary key,
      namespace_id bigint not null references namespaces on delete cascade,
      creator_id bigint references users on delete set null,
      name text not null,
      path text not null,
      full_path text not null,
      description text,
      visibility smallint not null default 0 check (visibility in (0, 10, 20)),
      archived boolean not null default false,
      default_branch text,
      settings jsonb not null default '{}',
      feature_levels jsonb not null default '{}',
      topics text[] not null default '{}',
      storage text not null default 'default',
      refs_version bigint not null default 0,
      repository_empty boolean not null default true,
      last_activity_at timestamptz(3) not null default now(),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index projects_namespace on projects (namespace_id, id)`.execute(db)
  await sql`create unique index projects_name on projects (namespace_id, lower(name))`.execute(db)
  for (const column of ['created_at', 'updated_at', 'last_activity_at'] as const) {
    await sql`create index ${sql.raw(`projects_${column}`)} on projects (${sql.ref(column)}, id)`.execute(db)
  }
  await sql`create index projects_public on projects (created_at desc, id desc) where visibility = 20`.execute(
    db,
  )

  // Every full path there is, in lower case, and the old ones that still lead somewhere: one name space for users,
  // groups and projects, unique because it is the key.
  await sql`
    create table routes (
      path_key text primary key,
      namespace_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      redirect boolean not null default false,
      check (num_nonnulls(namespace_id, project_id) = 1)
    )`.execute(db)
  await sql`create index routes_namespace on routes (namespace_id)`.execute(db)
  await sql`create index routes_project on routes (project_id)`.execute(db)

  await sql`
    create table members (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      access_level smallint not null check (access_level in (5, 10, 15, 20, 30, 40, 50)),
      state text not null default 'active' check (state in ('active', 'awaiting')),
      expires_at date,
      created_by_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(namespace_id, project_id) = 1),
      constraint members_in_namespace unique (user_id, namespace_id),
      constraint members_in_project unique (user_id, project_id)
    )`.execute(db)
  await sql`create index members_namespace on members (namespace_id, id)`.execute(db)
  await sql`create index members_project on members (project_id, id)`.execute(db)

  // Everybody who has access to a place, one row a membership: give a project's namespace line and its id, or a
  // group's line and null. A plain SQL function that PostgreSQL inlines, so that a condition on user_id reaches the
  // indexes (one branch each). An expired membership counts for nothing from its day on, whenever its row is removed.
  await sql`
    create function effective_memberships(line bigint[], project bigint)
    returns table (
      member_id bigint, user_id bigint, access_level smallint, namespace_id bigint, project_id bigint,
      expires_at date, created_by_id bigint, created_at timestamptz
    ) language sql stable parallel safe as $$
      select m.id, m.user_id, m.access_level, m.namespace_id, m.project_id, m.expires_at, m.created_by_id, m.created_at
      from members m
      where m.namespace_id = any (line) and m.state = 'active'
        and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)
      union all
      select m.id, m.user_id, m.access_level, m.namespace_id, m.project_id, m.expires_at, m.created_by_id, m.created_at
      from members m
      where m.project_id = project and m.state = 'active'
        and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date)
    $$`.execute(db)

  await sql`
    create table protected_branches (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      allow_force_push boolean not null default false,
      code_owner_approval_required boolean not null default false,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint protected_branches_name unique (project_id, name)
    )`.execute(db)
  await sql`
    create table protected_branch_access_levels (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      protected_branch_id bigint not null references protected_branches on delete cascade,
      action text not null check (action in ('push', 'merge', 'unprotect')),
      access_level smallint check (access_level in (0, 30, 40, 60)),
      user_id bigint references users on delete cascade,
      check (num_nonnulls(access_level, user_id) = 1)
    )`.execute(db)
  await sql`
    create index protected_branch_access_levels_branch
    on protected_branch_access_levels (protected_branch_id, id)`.execute(db)

  await sql`
    create unique index protected_branch_access_levels_level
    on protected_branch_access_levels (protected_branch_id, action, access_level) where user_id is null`.execute(
    db,
  )
  await sql`
    create unique index protected_branch_access_levels_user
    on protected_branch_access_levels (protected_branch_id, action, user_id) where user_id is not null`.execute(
    db,
  )

  // Written before refs are moved and settled after: what is still 'prepared' after a crash is compared with the
  // repository and settled then.
  await sql`
    create table ref_updates (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      user_id bigint references users on delete set null,
      state text not null default 'prepared' check (state in ('prepared', 'applied')),
      updates jsonb not null,
      push jsonb not null default '{}',
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index ref_updates_prepared on ref_updates (created_at) where state = 'prepared'`.execute(
    db,
  )

  // The last iid given and how many rows live, one row per project and kind of thing, moved in the transaction that
  // creates or deletes one.
  await sql`
    create table project_counters (
      project_id bigint not null references projects on delete cascade,
      kind text not null,
      last_iid bigint not null default 0,
      live bigint not null default 0,
      primary key (project_id, kind)
    )`.execute(db)
}
