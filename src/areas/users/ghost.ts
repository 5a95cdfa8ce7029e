import { sql, type Tx } from '../../kernel/db/index.ts'

/** What somebody has contributed, by table and the columns that name him. Who goes leaves it to the ghost. */
const contributions: readonly (readonly [table: string, ...columns: string[]])[] = [
  ['issues', 'author_id', 'closed_by_id', 'last_edited_by_id'],
  ['epics', 'author_id', 'closed_by_id'],
  ['merge_requests', 'author_id', 'closed_by_id', 'merge_user_id'],
  ['notes', 'author_id', 'updated_by_id', 'resolved_by_id'],
  ['snippets', 'author_id'],
  ['releases', 'author_id'],
  ['timelogs', 'user_id'],
  ['resource_label_events', 'user_id'],
  ['resource_milestone_events', 'user_id'],
  ['resource_state_events', 'user_id'],
]

/** What goes with somebody who is removed with all that he has done. Notes are removed one by one, before. */
const works = ['issues', 'epics', 'merge_requests', 'snippets'] as const

/** The user who stands for all that are gone; made when the first one goes. */
export async function ghost(tx: Tx): Promise<number> {
  // Two who go at once share one.
  await sql`select pg_advisory_xact_lock(hashtextextended('ghost', 180))`.execute(tx)
  const found = await sql<{ id: number }>`
    select u.id from users u where u.kind = 'internal' and u.username ~ '^ghost[0-9]*$'`.execute(tx)
  if (found.rows[0] !== undefined) return found.rows[0].id
  const made = await sql<{ id: number }>`
    insert into users (username, name, email, kind, external, can_create_group, projects_limit, profile)
    select free.name, 'Ghost User', free.name || '@noreply.localhost', 'internal', true, false, 0,
      '{"bio": "Stands for users who are gone."}'
    from (
      select 'ghost' || case when number = 0 then '' else number::text end as name from generate_series(0, 1000) number
      where not exists (
        select from routes r where r.path_key = 'ghost' || case when number = 0 then '' else number::text end)
        and not exists (
          select from users u where lower(u.username) = 'ghost' || case when number = 0 then '' else number::text end)
      order by number limit 1) free
    returning id`.execute(tx)
  return made.rows[0]!.id
}

/** Everything that the user has contributed is the ghost's from now on. */
export async function leaveToGhost(tx: Tx, userId: number): Promise<void> {
  const heir = await ghost(tx)
  for (const [table, ...columns] of contributions) {
    for (const column of columns) {
      await sql`
        update ${sql.table(table)} set ${sql.ref(column)} = ${heir} where ${sql.ref(column)} = ${userId}`.execute(
        tx,
      )
    }
  }
  // Nobody reacts twice in one way, the ghost neither.
  await sql`
    update award_emoji a set user_id = ${heir} where a.user_id = ${userId} and not exists (
      select from award_emoji b where b.user_id = ${heir} and b.awardable_kind = a.awardable_kind
        and b.awardable_id = a.awardable_id and b.name = a.name)`.execute(tx)
}

export async function removeWorks(tx: Tx, userId: number): Promise<void> {
  for (const table of works) {
    await sql`delete from ${sql.table(table)} where author_id = ${userId}`.execute(tx)
  }
}
