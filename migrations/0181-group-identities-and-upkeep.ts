import { sql, type Kysely } from 'kysely'

/** Who people are at the sign-in of a group, and which addresses a group answers for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A group has the sign-in of its own as soon as it says who somebody is there.
  await sql`
    create table saml_providers (
      id bigint generated always as identity primary key,
      namespace_id bigint not null references namespaces on delete cascade,
      created_at timestamptz(3) not null default now(),
      constraint saml_providers_namespace unique (namespace_id)
    )`.execute(db)
  await sql`
    create table saml_identities (
      id bigint generated always as identity primary key,
      saml_provider_id bigint not null references saml_providers on delete cascade,
      user_id bigint not null references users on delete cascade,
      extern_uid text not null,
      created_at timestamptz(3) not null default now(),
      constraint saml_identities_user unique (saml_provider_id, user_id)
    )`.execute(db)
  await sql`
    create unique index saml_identities_uid on saml_identities (saml_provider_id, lower(extern_uid))`.execute(
    db,
  )
  await sql`create index saml_identities_of_user on saml_identities (user_id)`.execute(db)

  // Who leaves the group is nobody at its sign-in any more.
  await sql`
    create function forget_saml_identities() returns trigger language plpgsql as $$
    begin
      delete from saml_identities i using gone, saml_providers p
      where i.saml_provider_id = p.id and p.namespace_id = gone.namespace_id and i.user_id = gone.user_id;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger forget_saml_identities after delete on members referencing old table as gone
    for each statement execute function forget_saml_identities()`.execute(db)

  await sql`
    create table verified_domains (
      domain text primary key check (domain = lower(domain)),
      namespace_id bigint not null references namespaces on delete cascade,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index verified_domains_namespace on verified_domains (namespace_id, domain)`.execute(db)

  // What the owner of a further address confirms it with.
  await sql`
    alter table user_emails
      add column confirmation_digest text, add column confirmation_sent_at timestamptz(3)`.execute(db)
  await sql`
    create unique index user_emails_confirmation on user_emails (confirmation_digest)
    where confirmation_digest is not null`.execute(db)

  // Since when a token is of no use any more, for what is kept of it for a while.
  await sql`alter table personal_access_tokens add column revoked_at timestamptz(3)`.execute(db)
  await sql`update personal_access_tokens set revoked_at = now() where revoked`.execute(db)
  await sql`
    create function date_revocation() returns trigger language plpgsql as $$
    begin
      new.revoked_at = now();
      return new;
    end $$`.execute(db)
  await sql`
    create trigger date_revocation before update of revoked on personal_access_tokens
    for each row when (new.revoked and not old.revoked) execute function date_revocation()`.execute(db)

  // When those who look after a project were told that it will go if nothing happens there.
  await sql`alter table projects add column inactivity_warned_at timestamptz(3)`.execute(db)
}
