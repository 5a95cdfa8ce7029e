import { sql, type Kysely } from 'kysely'

/** How many are for a merge request and against it, kept with it as issues keep theirs: lists are ordered by that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table merge_requests
      add column upvotes integer not null default 0, add column downvotes integer not null default 0`.execute(
    db,
  )
  await sql`
    update merge_requests m set upvotes = given.ups, downvotes = given.downs from (
      select a.awardable_id, count(*) filter (where a.name = 'thumbsup') as ups,
        count(*) filter (where a.name = 'thumbsdown') as downs
      from award_emoji a where a.awardable_kind = 'MergeRequest' and a.name in ('thumbsup', 'thumbsdown')
      group by a.awardable_id) given
    where m.id = given.awardable_id`.execute(db)
  await sql`create index merge_requests_upvotes on merge_requests (project_id, upvotes, id)`.execute(db)
}
