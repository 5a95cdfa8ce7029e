import { sql, type Kysely } from 'kysely'

/** Earlier commits that explain a merge request, and requests that have to be merged before it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table merge_request_context_commits (
      merge_request_id bigint not null references merge_requests on delete cascade,
      sha text not null,
      primary key (merge_request_id, sha)
    )`.execute(db)
  await sql`
    create table merge_request_blocks (
      id bigint generated always as identity primary key,
      blocking_id bigint not null references merge_requests on delete cascade,
      blocked_id bigint not null references merge_requests on delete cascade,
      constraint merge_request_blocks_once unique (blocked_id, blocking_id),
      constraint merge_request_blocks_other check (blocking_id <> blocked_id)
    )`.execute(db)
  await sql`create index merge_request_blocks_blocking on merge_request_blocks (blocking_id, id)`.execute(db)
}
