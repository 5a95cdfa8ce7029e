import { sql, type Kysely } from 'kysely'

/** Until when pushes wait for whether a default branch that was just unprotected is protected anew. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table default_branch_pauses (
      project_id bigint primary key references projects on delete cascade,
      until timestamptz(3) not null
    )`.execute(db)
}
