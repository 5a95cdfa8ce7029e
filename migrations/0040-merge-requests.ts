import { sql, type Kysely } from 'kysely'

/** Merge requests, who is asked to look at them, and a version for each push to what they bring. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Whom the feature of a project is open to, as one number for lists over many projects: 20 everybody, 10 users,
  // 0 members, -10 Reporters, -20 nobody.
  await sql`
    create function merge_request_audience(visibility smallint, feature_levels jsonb) returns smallint
    language sql immutable parallel safe as $$
      select (case coalesce((feature_levels ->> 'merge_requests')::int, 20)
        when 0 then -20 when 10 then -10 else visibility end)::smallint
    $$`.execute(db)

  // head_sha, base_sha, start_sha: of the latest version. checked_*: the heads that merge_status was found out
  // for; diverged: the target has commits that the source lacks.
  // merging_sha: what the target branch is to have once a merge that began is done; locked_at: when it began.
  // merge_params: what was asked for when the merge was left to happen by itself.
  await sql`
    create table merge_requests (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      iid bigint not null,
      source_project_id bigint references projects on delete set null,
      source_branch text not null,
      target_branch text not null,
      title text not null,
      description text,
      draft boolean not null generated always as (title ~* '^\\s*(\\[draft\\]|\\(draft\\)|draft:)') stored,
      author_id bigint references users on delete set null,
      milestone_id bigint,
      state text not null default 'opened' check (state in ('opened', 'closed', 'locked', 'merged')),
      audience smallint not null,
      version_id bigint,
      head_sha text not null,
      base_sha text,
      start_sha text not null,
      source_gone boolean not null default false,
      merge_status text not null default 'unchecked' check (merge_status in
        ('preparing', 'unchecked', 'checking', 'can_be_merged', 'cannot_be_merged', 'cannot_be_merged_recheck')),
      checked_head text,
      checked_target text,
      diverged boolean not null default false,
      squash boolean not null default false,
      remove_source_branch boolean,
      allow_collaboration boolean not null default false,
      discussion_locked boolean,
      auto_merge boolean not null default false,
      merge_params jsonb not null default '{}',
      merge_after timestamptz(3),
      merge_user_id bigint references users on delete set null,
      merge_error text,
      merge_commit_sha text,
      squash_commit_sha text,
      merged_sha text,
      merging_sha text,
      locked_at timestamptz(3),
      rebase_began_at timestamptz(3),
      closed_by_id bigint references users on delete set null,
      time_estimate integer not null default 0,
      time_spent integer not null default 0,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      prepared_at timestamptz(3),
      merged_at timestamptz(3),
      closed_at timestamptz(3),
      constraint merge_requests_iid unique (project_id, iid)
    )`.execute(db)
  // One open request for the same pair of branches.
  await sql`
    create unique index merge_requests_open
    on merge_requests (source_project_id, source_branch, project_id, target_branch)
    where state in ('opened', 'locked')`.execute(db)
  await sql`
    create index merge_requests_target on merge_requests (project_id, target_branch)
    where state in ('opened', 'locked')`.execute(db)
  await sql`
    create index merge_requests_source_project on merge_requests (source_project_id, id)
    where source_project_id <> project_id`.execute(db)
  await sql`create index merge_requests_source on merge_requests (project_id, source_branch, id)`.execute(db)
  for (const column of ['created_at', 'updated_at'] as const) {
    const key = sql.ref(column)
    await sql`create index ${sql.raw(`merge_requests_${column}`)} on merge_requests (project_id, ${key}, id)`.execute(
      db,
    )
    await sql`
      create index ${sql.raw(`merge_requests_state_${column}`)}
      on merge_requests (project_id, state, ${key}, id)`.execute(db)
    await sql`
      create index ${sql.raw(`merge_requests_audience_${column}`)} on merge_requests (audience, ${key}, id)`.execute(
      db,
    )
    await sql`
      create index ${sql.raw(`merge_requests_audience_state_${column}`)}
      on merge_requests (audience, state, ${key}, id)`.execute(db)
  }
  await sql`
    create index merge_requests_merged_at on merge_requests (project_id, merged_at, id)
    where merged_at is not null`.execute(db)
  await sql`create index merge_requests_title on merge_requests (project_id, title, id)`.execute(db)
  await sql`create index merge_requests_author on merge_requests (author_id, created_at, id)`.execute(db)
  await sql`
    create index merge_requests_merge_user on merge_requests (merge_user_id, id) where merge_user_id is not null`.execute(
    db,
  )
  await sql`
    create index merge_requests_closed_by on merge_requests (closed_by_id) where closed_by_id is not null`.execute(
    db,
  )
  await sql`
    create index merge_requests_milestone on merge_requests (milestone_id, id) where milestone_id is not null`.execute(
    db,
  )
  await sql`create index merge_requests_locked on merge_requests (locked_at) where state = 'locked'`.execute(
    db,
  )
  await sql`
    create index merge_requests_merge_after on merge_requests (merge_after)
    where merge_after is not null and auto_merge`.execute(db)
  await sql`
    create index merge_requests_search on merge_requests using gin (title gin_trgm_ops, description gin_trgm_ops)`.execute(
    db,
  )

  await sql`
    create function merge_requests_follow_project() returns trigger language plpgsql as $$
    begin
      update merge_requests set audience = merge_request_audience(new.visibility, new.feature_levels)
      where project_id = new.id;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger merge_requests_follow_project after update of visibility, feature_levels on projects
    for each row when (merge_request_audience(old.visibility, old.feature_levels)
      is distinct from merge_request_audience(new.visibility, new.feature_levels))
    execute function merge_requests_follow_project()`.execute(db)

  await sql`
    create table merge_request_assignees (
      merge_request_id bigint not null references merge_requests on delete cascade,
      user_id bigint not null references users on delete cascade,
      created_at timestamptz(3) not null default now(),
      primary key (merge_request_id, user_id)
    )`.execute(db)
  await sql`
    create index merge_request_assignees_user on merge_request_assignees (user_id, merge_request_id)`.execute(
    db,
  )
  await sql`
    create table merge_request_reviewers (
      merge_request_id bigint not null references merge_requests on delete cascade,
      user_id bigint not null references users on delete cascade,
      state text not null default 'unreviewed' check (state in
        ('unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved', 'review_started')),
      created_at timestamptz(3) not null default now(),
      primary key (merge_request_id, user_id)
    )`.execute(db)
  await sql`
    create index merge_request_reviewers_user on merge_request_reviewers (user_id, merge_request_id)`.execute(
    db,
  )

  // commits: ids of what the version brings, newest first, at most 1,000.
  await sql`
    create table merge_request_versions (
      id bigint generated always as identity primary key,
      merge_request_id bigint not null references merge_requests on delete cascade,
      head_sha text not null,
      base_sha text,
      start_sha text not null,
      state text not null check (state in ('collected', 'overflow', 'empty')),
      real_size integer not null,
      commits_count integer not null,
      commits text[] not null,
      patch_id_sha text,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`
    create index merge_request_versions_request on merge_request_versions (merge_request_id, id)`.execute(db)
  await sql`create index merge_request_versions_commits on merge_request_versions using gin (commits)`.execute(
    db,
  )
}
