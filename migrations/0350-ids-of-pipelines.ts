import { sql, type Kysely } from 'kysely'

/** The last id given with a number, of pipelines alone: those that were reserved before have to be later. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table project_counters add column last_id bigint not null default 0`.execute(db)
  await sql`
    update project_counters c set last_id = p.last_id
    from (select project_id, max(id) as last_id from ci_pipelines group by project_id) p
    where c.kind = 'pipeline' and p.project_id = c.project_id`.execute(db)
}
