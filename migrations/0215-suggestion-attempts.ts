import { sql, type Kysely } from 'kysely'

/**
 * What is written down before the commit of suggestions moves its branch: should nobody live to mark them as applied,
 * the commit in the branch tells that they were.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // resolves: whoever applies them may resolve their threads.
  await sql`
    create table suggestion_attempts (
      suggestion_id bigint not null references suggestions on delete cascade,
      commit_sha text not null,
      user_id bigint references users on delete set null,
      resolves boolean not null,
      primary key (suggestion_id, commit_sha)
    )`.execute(db)
  await sql`
    create index suggestion_attempts_user on suggestion_attempts (user_id) where user_id is not null`.execute(
    db,
  )
}
