import { sql, type Kysely } from 'kysely'

/** The older way for runners to come to be: whoever has the token of a place registers runners for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Neither namespace nor project: of the instance.
  await sql`
    create table ci_registration_tokens (
      id bigint generated always as identity primary key,
      namespace_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      token_digest text not null,
      updated_at timestamptz(3) not null default now(),
      constraint ci_registration_tokens_place unique nulls not distinct (namespace_id, project_id),
      constraint ci_registration_tokens_token unique (token_digest),
      check (namespace_id is null or project_id is null)
    )`.execute(db)
  await sql`
    create index ci_registration_tokens_project on ci_registration_tokens (project_id) where project_id is not null
    `.execute(db)
  // Lists of a group's runners, and how many there are.
  await sql`create index ci_runners_namespace on ci_runners (namespace_id, id) where namespace_id is not null`.execute(
    db,
  )
}
