import { sql, type Kysely } from 'kysely'

/** An index for each order in which the issues of a project are listed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index issues_title on issues (project_id, lower(title), id)`.execute(db)
  await sql`create index issues_upvotes on issues (project_id, upvotes, id)`.execute(db)
  await sql`create index issues_of_project on issues (project_id, id)`.execute(db)
  // What has no weight comes last, whichever way the others go.
  await sql`create index issues_weight on issues (project_id, weight, id)`.execute(db)
  await sql`
    create index issues_weight_last on issues (project_id, weight desc nulls last, id desc)`.execute(db)
  // Few of many have these.
  await sql`
    create index issues_confidential on issues (project_id, created_at, id) where confidential`.execute(db)
  await sql`
    create index issues_special on issues (project_id, issue_type, created_at, id)
    where issue_type <> 'issue'`.execute(db)
}
