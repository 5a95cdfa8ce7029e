import { sql, type Kysely } from 'kysely'

/** Projects that a push has made and that nothing has come into yet: its pusher is told once the code is there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pushed_projects (
      project_id bigint primary key references projects on delete cascade,
      user_id bigint not null references users on delete cascade
    )`.execute(db)
  await sql`create index pushed_projects_user on pushed_projects (user_id)`.execute(db)
}
