import { sql, type Kysely } from 'kysely'

/** What administrators note of users, groups and projects, for machines. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table custom_attributes (
      id bigint generated always as identity primary key,
      user_id bigint references users on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      key text not null,
      value text not null,
      check (num_nonnulls(user_id, namespace_id, project_id) = 1),
      constraint custom_attributes_user unique (user_id, key),
      constraint custom_attributes_namespace unique (namespace_id, key),
      constraint custom_attributes_project unique (project_id, key)
    )`.execute(db)
}
