import { sql, type Kysely } from 'kysely'

/** What people are told of memberships that end and of invitations that wait, and what goes with a membership. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table members add column expiry_notified_at timestamptz(3)`.execute(db)
  await sql`create index members_ending on members (expires_at) where expires_at is not null`.execute(db)
  await sql`alter table invitations add column reminders smallint not null default 0`.execute(db)

  // Who is no member of a place any more has nothing to say about what he is told of it.
  await sql`
    create function forget_notification_settings() returns trigger language plpgsql as $$
    begin
      delete from notification_settings s using gone
      where s.user_id = gone.user_id and s.namespace_id = gone.namespace_id;
      delete from notification_settings s using gone
      where s.user_id = gone.user_id and s.project_id = gone.project_id;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger forget_notification_settings after delete on members referencing old table as gone
    for each statement execute function forget_notification_settings()`.execute(db)
}
