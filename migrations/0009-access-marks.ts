import { sql, type Kysely } from 'kysely'

/**
 * What tells a remembered decision of access from an outdated one: a number per user that grows with every change of
 * the user's memberships, and one (user 0) for changes of the tree that memberships are inherited along. It is
 * written in the transaction of the change, by triggers, so that nothing that changes access can forget it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Without a foreign key: the memberships of a user who is removed go after the user.
  await sql`
    create table access_marks (
      user_id bigint primary key,
      version bigint not null
    ) with (fillfactor = 50)`.execute(db)
  await sql`insert into access_marks (user_id, version) values (0, 1)`.execute(db)

  // In the order of their ids, so that two changes of many members do not lock each other out.
  await sql`
    create function mark_access_of_users(ids bigint[]) returns void language sql as $$
      insert into access_marks (user_id, version)
      select distinct id, 1 from unnest(ids) id where id is not null order by id
      on conflict (user_id) do update set version = access_marks.version + 1
    $$`.execute(db)
  await sql`
    create function members_mark_access() returns trigger language plpgsql as $$
    begin
      perform mark_access_of_users(array(select c.user_id from changed c));
      return null;
    end $$`.execute(db)
  for (const [event, rows] of [
    ['insert', 'new'],
    ['update', 'new'],
    ['delete', 'old'],
  ] as const) {
    await sql`
      create trigger ${sql.raw(`mark_access_after_${event}`)} after ${sql.raw(event)} on members
      referencing ${sql.raw(rows)} table as changed
      for each statement execute function members_mark_access()`.execute(db)
  }

  await sql`
    create function tree_marks_access() returns trigger language plpgsql as $$
    begin
      perform mark_access_of_users(array[0]);
      return null;
    end $$`.execute(db)
  await sql`
    create trigger mark_access_after_move after update of parent_id, traversal_ids, settings on namespaces
    for each statement execute function tree_marks_access()`.execute(db)
  await sql`
    create trigger mark_access_after_move after update of namespace_id on projects
    for each statement execute function tree_marks_access()`.execute(db)
}
