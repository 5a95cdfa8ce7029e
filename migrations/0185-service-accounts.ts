import { sql, type Kysely } from 'kysely'

/** Service accounts of the instance and of top-level groups; and the codes that locked accounts are opened with. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table service_accounts (
      user_id bigint primary key references users on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index service_accounts_namespace on service_accounts (namespace_id, user_id)`.execute(db)
  // With its group an account loses its tokens; what it did goes on naming it.
  await sql`
    create trigger revoke_tokens after delete on service_accounts
    for each row execute function revoke_tokens_of_bot()`.execute(db)

  await sql`
    create table account_unlocks (
      user_id bigint primary key references users on delete cascade,
      sealed_code text not null,
      attempts smallint not null default 0,
      sent_at timestamptz(3) not null default now()
    )`.execute(db)
}
