import { sql, type Kysely } from 'kysely'

/** Rules that protect container repositories and their tags. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // path_pattern is what follows the project's full path, so that a rule stays in force when the project is renamed.
  await sql`
    create table container_protection_rules (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      path_pattern text not null,
      minimum_push smallint check (minimum_push in (40, 50, 60)),
      minimum_delete smallint check (minimum_delete in (40, 50, 60)),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(minimum_push, minimum_delete) > 0),
      constraint container_protection_rules_pattern unique (project_id, path_pattern)
    )`.execute(db)
  await sql`
    create table container_tag_protection_rules (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      tag_name_pattern text not null,
      minimum_push smallint check (minimum_push in (40, 50, 60)),
      minimum_delete smallint check (minimum_delete in (40, 50, 60)),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(minimum_push, minimum_delete) in (0, 2)),
      constraint container_tag_protection_rules_pattern unique (project_id, tag_name_pattern)
    )`.execute(db)
}
