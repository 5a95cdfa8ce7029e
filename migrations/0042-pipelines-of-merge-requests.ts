import { sql, type Kysely } from 'kysely'

/** Pipelines that ran for a merge request. `merge_request`: its variables as they were then, and where changes begin. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table ci_pipelines
      add column merge_request_id bigint references merge_requests on delete set null,
      add column merge_request jsonb`.execute(db)
  await sql`
    create index ci_pipelines_merge_request on ci_pipelines (merge_request_id, id)
    where merge_request_id is not null`.execute(db)
}
