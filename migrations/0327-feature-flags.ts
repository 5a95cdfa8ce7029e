import { sql, type Kysely } from 'kysely'

/** Feature flags of projects, for programs that ask by the protocol of Unleash what is switched on for whom. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table feature_flags (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      description text,
      active boolean not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint feature_flags_name unique (project_id, name)
    )`.execute(db)
  await sql`create index feature_flags_project on feature_flags (project_id, active, name)`.execute(db)
  // user_xids: names that the programs give their users, with commas.
  await sql`
    create table feature_flag_user_lists (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      iid bigint not null,
      name text not null,
      user_xids text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint feature_flag_user_lists_iid unique (project_id, iid),
      constraint feature_flag_user_lists_name unique (project_id, name)
    )`.execute(db)
  await sql`
    create table feature_flag_strategies (
      id bigint generated always as identity primary key,
      feature_flag_id bigint not null references feature_flags on delete cascade,
      name text not null check (name in
        ('default', 'gradualRolloutUserId', 'flexibleRollout', 'userWithId', 'gitlabUserList')),
      parameters jsonb not null,
      user_list_id bigint,
      constraint feature_flag_strategies_user_list foreign key (user_list_id) references feature_flag_user_lists,
      check ((name = 'gitlabUserList') = (user_list_id is not null))
    )`.execute(db)
  await sql`
    create index feature_flag_strategies_flag on feature_flag_strategies (feature_flag_id, id)`.execute(db)
  await sql`
    create index feature_flag_strategies_list on feature_flag_strategies (user_list_id)
    where user_list_id is not null`.execute(db)
  await sql`
    create table feature_flag_scopes (
      id bigint generated always as identity primary key,
      strategy_id bigint not null references feature_flag_strategies on delete cascade,
      environment_scope text not null
    )`.execute(db)
  await sql`create index feature_flag_scopes_strategy on feature_flag_scopes (strategy_id, id)`.execute(db)
  // The token that programs show, to be compared and to be read again.
  await sql`
    create table feature_flag_clients (
      project_id bigint primary key references projects on delete cascade,
      secret text not null,
      token_digest text not null unique,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
}
