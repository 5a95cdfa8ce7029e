import { sql, type Kysely } from 'kysely'

/** Merge requests among the noteables: what hangs on one goes with it, and subscriptions are where those of all are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create trigger forget_noteables after delete on merge_requests referencing old table as gone
    for each statement execute function forget_noteables('MergeRequest')`.execute(db)
  await sql`
    alter table merge_requests add constraint merge_requests_milestone_id
    foreign key (milestone_id) references milestones on delete set null`.execute(db)
  await sql`drop table merge_request_subscriptions`.execute(db)
}
