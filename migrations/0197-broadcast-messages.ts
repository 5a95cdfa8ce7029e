import { sql, type Kysely } from 'kysely'

/** What an administrator has to say to everybody for a while. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table broadcast_messages (
      id bigint generated always as identity primary key,
      message text not null,
      starts_at timestamptz(3) not null,
      ends_at timestamptz(3) not null,
      color text,
      font text,
      target_access_levels smallint[] not null,
      target_path text,
      broadcast_type text not null check (broadcast_type in ('banner', 'notification')),
      dismissable boolean not null,
      theme text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index broadcast_messages_end on broadcast_messages (ends_at)`.execute(db)
}
