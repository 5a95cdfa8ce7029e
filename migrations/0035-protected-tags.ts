import { sql, type Kysely } from 'kysely'

/** Rules for tags: a name or wildcard, and who may create tags of that name. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table protected_tags (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      name text not null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint protected_tags_name unique (project_id, name)
    )`.execute(db)
  await sql`
    create table protected_tag_create_levels (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      protected_tag_id bigint not null references protected_tags on delete cascade,
      access_level smallint check (access_level in (0, 30, 40, 60)),
      user_id bigint references users on delete cascade,
      deploy_key_id bigint references ssh_keys on delete cascade,
      check (num_nonnulls(access_level, user_id, deploy_key_id) = 1),
      constraint protected_tag_create_levels_target
        unique nulls not distinct (protected_tag_id, access_level, user_id, deploy_key_id)
    )`.execute(db)
  await sql`create index protected_tag_create_levels_user on protected_tag_create_levels (user_id)
    where user_id is not null`.execute(db)
  await sql`create index protected_tag_create_levels_key on protected_tag_create_levels (deploy_key_id)
    where deploy_key_id is not null`.execute(db)
}
