import { sql, type Kysely } from 'kysely'

/** How far the pushes to a repository have been reckoned with when it was last put in order. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table repository_upkeep (
      project_id bigint primary key references projects on delete cascade,
      last_update bigint not null,
      optimised_at timestamptz(3) not null default now()
    )`.execute(db)
}
