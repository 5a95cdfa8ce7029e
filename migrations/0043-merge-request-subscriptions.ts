import { sql, type Kysely } from 'kysely'

/** Who asked to be told of a merge request, or not to be, whatever else makes them a part of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table merge_request_subscriptions (
      merge_request_id bigint not null references merge_requests on delete cascade,
      user_id bigint not null references users on delete cascade,
      subscribed boolean not null,
      primary key (merge_request_id, user_id)
    )`.execute(db)
  await sql`
    create index merge_request_subscriptions_user on merge_request_subscriptions (user_id)`.execute(db)
}
