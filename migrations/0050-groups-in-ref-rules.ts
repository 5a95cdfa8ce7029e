import { sql, type Kysely } from 'kysely'

/** Groups among those whom rules of branches and tags let in, and rules of branches that a group has for all its projects. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table protected_branches
      alter column project_id drop not null,
      add column namespace_id bigint references namespaces on delete cascade,
      add constraint protected_branches_place check (num_nonnulls(project_id, namespace_id) = 1),
      add constraint protected_branches_group_name unique (namespace_id, name)`.execute(db)
  await sql`
    alter table protected_branch_access_levels
      alter column project_id drop not null,
      add column group_id bigint references namespaces on delete cascade,
      drop constraint protected_branch_access_levels_target,
      add constraint protected_branch_access_levels_target
        check (num_nonnulls(access_level, user_id, deploy_key_id, group_id) = 1),
      add constraint protected_branch_access_levels_of_group check (project_id is not null or access_level is not null)
    `.execute(db)
  await sql`
    create unique index protected_branch_access_levels_group
    on protected_branch_access_levels (protected_branch_id, action, group_id) where group_id is not null`.execute(
    db,
  )
  // Only direct members count, and only as long as the project is shared with the group for writing.
  await sql`
    create function admits_through_group(project bigint, invited bigint, member bigint) returns boolean
    language plpgsql stable as $$
    begin
      return exists (
        select from project_shares s join members m on m.namespace_id = s.group_id
        where s.project_id = project and s.group_id = invited and s.access_level >= 30
          and (s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date)
          and m.user_id = member and m.access_level >= 30 and m.state = 'active'
          and (m.expires_at is null or m.expires_at > (now() at time zone 'utc')::date));
    end $$`.execute(db)
  await sql`
    create index protected_branch_access_levels_by_group on protected_branch_access_levels (group_id)
    where group_id is not null`.execute(db)
  await sql`
    alter table protected_tag_create_levels
      add column group_id bigint references namespaces on delete cascade,
      drop constraint protected_tag_create_levels_check,
      drop constraint protected_tag_create_levels_target,
      add constraint protected_tag_create_levels_check
        check (num_nonnulls(access_level, user_id, deploy_key_id, group_id) = 1),
      add constraint protected_tag_create_levels_target
        unique nulls not distinct (protected_tag_id, access_level, user_id, deploy_key_id, group_id)`.execute(
    db,
  )
  await sql`
    create index protected_tag_create_levels_by_group on protected_tag_create_levels (group_id)
    where group_id is not null`.execute(db)
}
