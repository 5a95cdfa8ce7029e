import { sql, type Kysely } from 'kysely'

/** Domains of their own that projects have their site at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table site_domains (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      -- In lower case.
      domain text not null,
      -- To be found in the domain's own records; no secret.
      verification_code text not null,
      verified_at timestamptz(3),
      enabled_until timestamptz(3),
      checked_at timestamptz(3),
      created_at timestamptz(3) not null default now(),
      constraint site_domains_domain unique (domain)
    )`.execute(db)
  await sql`create index site_domains_project on site_domains (project_id, domain)`.execute(db)
  await sql`create index site_domains_new on site_domains (created_at) where verified_at is null`.execute(db)
  await sql`create index site_domains_end on site_domains (enabled_until) where enabled_until is not null`.execute(
    db,
  )
}
