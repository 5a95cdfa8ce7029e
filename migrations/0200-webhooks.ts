import { sql, type Kysely } from 'kysely'

/** Whom the service calls when something happens: for a project, for all below a group, or for the whole instance. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhooks (
      id bigint generated always as identity primary key,
      project_id bigint references projects (id) on delete cascade,
      namespace_id bigint references namespaces (id) on delete cascade,
      uuid uuid not null default gen_random_uuid(),
      name text,
      description text,
      -- Sealed, as the next and the last two: addresses are often secrets by themselves.
      url text not null,
      token text,
      triggers text[] not null,
      branch_filter text,
      branch_filter_strategy text not null,
      ssl_verification boolean not null,
      template text,
      custom_headers text,
      url_variables text,
      failures integer not null default 0,
      disabled_until timestamptz(3),
      created_at timestamptz(3) not null default now(),
      check (project_id is null or namespace_id is null)
    )`.execute(db)
  await sql`create index webhooks_project on webhooks (project_id, id) where project_id is not null`.execute(
    db,
  )
  await sql`create index webhooks_namespace on webhooks (namespace_id, id) where namespace_id is not null`.execute(
    db,
  )
  await sql`create index webhooks_instance on webhooks (id) where project_id is null and namespace_id is null`.execute(
    db,
  )
  await sql`
    create table webhook_deliveries (
      id bigint generated always as identity primary key,
      webhook_id bigint not null references webhooks (id) on delete cascade,
      trigger text not null,
      response_status text not null,
      -- Seconds
      duration double precision not null,
      -- Sealed: what was sent and what came back.
      content text not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index webhook_deliveries_webhook on webhook_deliveries (webhook_id, id)`.execute(db)
  await sql`create index webhook_deliveries_created_at on webhook_deliveries (created_at)`.execute(db)
}
