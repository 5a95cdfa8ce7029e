import { sql, type Kysely } from 'kysely'

/** What is said about merge requests goes with them; reviews that are not published yet. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const trigger of ['forget_discussions', 'forget_reactions']) {
    await sql`
      create trigger ${sql.raw(trigger)} after delete on merge_requests referencing old table as gone
      for each statement execute function ${sql.raw(trigger)}('MergeRequest')`.execute(db)
  }

  // discussion_id: the thread that it answers; without one it begins a discussion.
  await sql`
    create table draft_notes (
      id bigint generated always as identity primary key,
      author_id bigint not null references users on delete cascade,
      merge_request_id bigint not null references merge_requests on delete cascade,
      discussion_id bigint references discussions on delete cascade,
      note text not null,
      resolve_discussion boolean not null default false,
      commit_id text,
      line_code text,
      position jsonb,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index draft_notes_author on draft_notes (merge_request_id, author_id, id)`.execute(db)
  await sql`create index draft_notes_user on draft_notes (author_id)`.execute(db)
  await sql`create index draft_notes_discussion on draft_notes (discussion_id) where discussion_id is not null`.execute(
    db,
  )
}
