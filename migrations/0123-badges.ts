import { sql, type Kysely } from 'kysely'

/** Pictures with links that projects show of themselves; those of a group are of all that lies below it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table badges (
      id bigint generated always as identity primary key,
      namespace_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      name text,
      link_url text not null,
      image_url text not null,
      created_at timestamptz(3) not null default now(),
      check (num_nonnulls(namespace_id, project_id) = 1)
    )`.execute(db)
  await sql`create index badges_project on badges (project_id, id) where project_id is not null`.execute(db)
  await sql`create index badges_namespace on badges (namespace_id, id) where namespace_id is not null`.execute(
    db,
  )
}
