import { sql, type Kysely } from 'kysely'

/** What was found when somebody last asked how the repository of a project is kept. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table repository_health (
      project_id bigint primary key references projects on delete cascade,
      report jsonb not null,
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
}
