import { sql, type Kysely } from 'kysely'

/** CI/CD variables of groups and of the instance, beside those of projects. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // With neither a project nor a group it is one of the instance.
  await sql`
    alter table ci_variables
      alter column project_id drop not null,
      add column namespace_id bigint references namespaces on delete cascade,
      add constraint ci_variables_place check (num_nonnulls(project_id, namespace_id) <= 1),
      drop constraint ci_variables_key_scope,
      add constraint ci_variables_key_scope
        unique nulls not distinct (project_id, namespace_id, key, environment_scope)`.execute(db)
  await sql`
    create index ci_variables_namespace on ci_variables (namespace_id, id)
    where namespace_id is not null`.execute(db)
  await sql`
    create index ci_variables_instance on ci_variables (id)
    where project_id is null and namespace_id is null`.execute(db)
}
