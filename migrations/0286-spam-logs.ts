import { sql, type Kysely } from 'kysely'

/** What was taken for spam, and not let in: who solves the captcha names the row. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table spam_logs (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      kind text not null check (kind in ('issue', 'snippet', 'comment')),
      title text,
      description text not null,
      source_ip text not null,
      user_agent text,
      captcha_solved_at timestamptz(3),
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index spam_logs_user on spam_logs (user_id, id)`.execute(db)
}
