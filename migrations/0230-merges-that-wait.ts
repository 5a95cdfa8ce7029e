import { sql, type Kysely } from 'kysely'

/** Finds what waits to be merged in a project: few of its requests, however many there are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create index merge_requests_waiting on merge_requests (project_id, id)
    where state = 'opened' and auto_merge`.execute(db)
}
