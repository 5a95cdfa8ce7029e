import { sql, type Kysely } from 'kysely'

/**
 * What the policy server has said of people and labels. `question` is a digest of its address and the label: labels have
 * no bound, and another server is not bound by what this one has said.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table policy_verdicts (
      user_id bigint not null references users on delete cascade,
      question text not null,
      allowed boolean not null,
      expires_at timestamptz(3) not null,
      primary key (user_id, question)
    )`.execute(db)
}
