import { sql, type Kysely } from 'kysely'

/** Who did what that is of interest later; it stays when who or what it is about goes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_events (
      id bigint generated always as identity primary key,
      author_id bigint not null,
      entity_type text not null check (entity_type in ('User', 'Group', 'Project')),
      entity_id bigint not null,
      event_name text not null,
      details jsonb not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index audit_events_entity on audit_events (entity_type, entity_id, id)`.execute(db)
  await sql`create index audit_events_age on audit_events (created_at)`.execute(db)
}
