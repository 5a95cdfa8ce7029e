import { sql, type Kysely } from 'kysely'

/** The released versions of the runner, as the feed tells them that the operator names. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table runner_releases (
      major integer not null,
      minor integer not null,
      patch integer not null,
      primary key (major, minor, patch)
    )`.execute(db)
}
