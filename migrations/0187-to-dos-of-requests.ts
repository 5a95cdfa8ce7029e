import { sql, type Kysely } from 'kysely'

/** Who asks to be let in is decided upon when the request goes, whatever ends it: nobody has to look at it any more. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function finish_todos_of_requests() returns trigger language plpgsql as $$
    begin
      update todos t set state = 'done', updated_at = now() from gone
      where t.action = 'member_access_requested' and t.author_id = gone.user_id and t.state = 'pending'
        and (t.project_id = gone.project_id or t.namespace_id = gone.namespace_id);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger finish_todos_of_requests after delete on access_requests referencing old table as gone
    for each statement execute function finish_todos_of_requests()`.execute(db)
}
