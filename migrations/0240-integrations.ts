import { sql, type Kysely } from 'kysely'

/** Webhooks that speak as a chat understands it: one of each kind in a project or group, set by what the chat needs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table webhooks
      add column integration text,
      -- Sealed: what was set of it.
      add column properties text,
      add column active boolean not null default true,
      add column updated_at timestamptz(3) not null default now(),
      add check ((integration is null) = (properties is null)),
      add check (integration is null or num_nonnulls(project_id, namespace_id) = 1)`.execute(db)
  await sql`
    create unique index webhooks_integration_of_project on webhooks (project_id, integration)
    where integration is not null`.execute(db)
  await sql`
    create unique index webhooks_integration_of_group on webhooks (namespace_id, integration)
    where integration is not null`.execute(db)
}
