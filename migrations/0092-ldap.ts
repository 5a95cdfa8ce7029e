import { sql, type Kysely } from 'kysely'

/** Who people are elsewhere, which groups of a directory give which membership, and how their sync stands. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // uid_key: the name in the one spelling in which it is compared; a distinguished name may be written in several.
  await sql`
    create table user_identities (
      id bigint generated always as identity primary key,
      user_id bigint not null references users on delete cascade,
      provider text not null,
      extern_uid text not null,
      uid_key text not null,
      created_at timestamptz(3) not null default now(),
      constraint user_identities_uid unique (provider, uid_key),
      constraint user_identities_once unique (user_id, provider)
    )`.execute(db)

  await sql`
    create table ldap_group_links (
      id bigint generated always as identity primary key,
      namespace_id bigint not null references namespaces on delete cascade,
      provider text not null,
      cn text,
      filter text,
      group_access smallint not null check (group_access in (5, 10, 15, 20, 30, 40, 50)),
      member_role_id bigint references member_roles on delete set null,
      created_at timestamptz(3) not null default now(),
      check (num_nonnulls(cn, filter) = 1)
    )`.execute(db)
  await sql`
    create unique index ldap_group_links_cn on ldap_group_links (namespace_id, provider, cn) where cn is not null`.execute(
    db,
  )
  // A filter may be longer than an index takes.
  await sql`
    create unique index ldap_group_links_filter on ldap_group_links (namespace_id, provider, md5(filter))
    where filter is not null`.execute(db)
  await sql`create index ldap_group_links_provider on ldap_group_links (provider, namespace_id)`.execute(db)

  await sql`
    create table ldap_syncs (
      namespace_id bigint primary key references namespaces on delete cascade,
      state text not null default 'ready' check (state in ('ready', 'started', 'pending', 'failed')),
      error text,
      started_at timestamptz(3),
      finished_at timestamptz(3)
    )`.execute(db)

  // ldap: the directory keeps this membership. override: its level was changed by hand and stays.
  await sql`
    alter table members add column ldap boolean not null default false,
      add column override boolean not null default false`.execute(db)
}
