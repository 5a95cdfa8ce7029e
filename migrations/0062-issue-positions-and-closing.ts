import { sql, type Kysely } from 'kysely'

/** Issues in an order of people's own, who made them from where, and what closes them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Far apart, so that others fit between.
  await sql`update issues set relative_position = iid << 20`.execute(db)
  await sql`
    create index issues_due_date_last on issues (project_id, due_date desc nulls last, id desc)`.execute(db)

  // What administrators look at when something unwanted was written.
  await sql`alter table issues add column user_agent text, add column ip_address text`.execute(db)

  // The issues that a merge request will close when it is merged; written anew with each change of its text.
  await sql`
    create table merge_requests_closing_issues (
      merge_request_id bigint not null,
      issue_id bigint not null references issues on delete cascade,
      primary key (merge_request_id, issue_id)
    )`.execute(db)
  await sql`
    create index merge_requests_closing_issues_issue on merge_requests_closing_issues (issue_id, merge_request_id)`.execute(
    db,
  )
}
