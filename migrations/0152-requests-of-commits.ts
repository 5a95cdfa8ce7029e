import { sql, type Kysely } from 'kysely'

/** From a commit to the merge request whose merge made it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ['merge_commit_sha', 'squash_commit_sha'] as const) {
    await sql`
      create index ${sql.raw(`merge_requests_${column}`)} on merge_requests (project_id, ${sql.ref(column)})
      where ${sql.ref(column)} is not null`.execute(db)
  }
}
