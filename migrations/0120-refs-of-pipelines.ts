import { sql, type Kysely } from 'kysely'

/** What keeps the commit of a pipeline while it runs, whatever becomes of its branch. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // has_ref: `refs/pipelines/:id` is there. needs_ref: jobs wait until it is. Neither: from before there were any.
  await sql`
    alter table ci_pipelines
      add column has_ref boolean not null default false,
      add column needs_ref boolean not null default false`.execute(db)
  await sql`
    create index ci_pipelines_resting on ci_pipelines (project_id, id)
    where has_ref and status in ('success', 'failed', 'canceled', 'skipped')`.execute(db)
}
