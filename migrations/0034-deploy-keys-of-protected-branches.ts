import { sql, type Kysely } from 'kysely'

/** Deploy keys among those who may push to a protected branch. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table protected_branch_access_levels
      add column deploy_key_id bigint references ssh_keys on delete cascade,
      drop constraint protected_branch_access_levels_check,
      add constraint protected_branch_access_levels_target
        check (num_nonnulls(access_level, user_id, deploy_key_id) = 1),
      add constraint protected_branch_access_levels_key_pushes check (deploy_key_id is null or action = 'push')
    `.execute(db)
  await sql`drop index protected_branch_access_levels_level`.execute(db)
  await sql`
    create unique index protected_branch_access_levels_level
    on protected_branch_access_levels (protected_branch_id, action, access_level) where access_level is not null`.execute(
    db,
  )
  await sql`
    create unique index protected_branch_access_levels_deploy_key
    on protected_branch_access_levels (protected_branch_id, action, deploy_key_id) where deploy_key_id is not null`.execute(
    db,
  )
  await sql`
    create index protected_branch_access_levels_by_key on protected_branch_access_levels (deploy_key_id)
    where deploy_key_id is not null`.execute(db)
}
