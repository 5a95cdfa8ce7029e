import { sql, type Kysely } from 'kysely'

/** The app at the cloud of an issue tracker: who has installed it there, and which groups it is told of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table tracker_installations (
      id bigint generated always as identity primary key,
      client_key text not null constraint tracker_installations_client unique,
      base_url text not null,
      -- Sealed.
      shared_secret text not null,
      -- Another instance, which is told of all that the tracker tells of this installation.
      instance_url text,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`
    create table tracker_subscriptions (
      id bigint generated always as identity primary key,
      installation_id bigint not null references tracker_installations on delete cascade,
      namespace_id bigint not null references namespaces on delete cascade,
      created_at timestamptz(3) not null default now(),
      constraint tracker_subscriptions_once unique (installation_id, namespace_id)
    )`.execute(db)
  await sql`create index tracker_subscriptions_namespace on tracker_subscriptions (namespace_id)`.execute(db)
  // By which other instances see that what we pass on is of us.
  await sql`
    create table tracker_public_keys (
      id uuid primary key,
      pem text not null,
      expires_at timestamptz(3) not null
    )`.execute(db)
}
