import { sql, type Kysely } from 'kysely'

/** Tokens of projects and groups: deploy tokens, which stand for no user, and the bots that access tokens stand for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const place = sql`
    project_id bigint references projects on delete cascade,
    namespace_id bigint references namespaces on delete cascade,
    check (num_nonnulls(project_id, namespace_id) = 1)`
  // secret: the token, encrypted, of those that are handed to jobs; of others the digest is enough.
  await sql`
    create table deploy_tokens (
      id bigint generated always as identity primary key,
      name text not null,
      username text not null,
      digest text not null,
      secret text,
      scopes text[] not null,
      expires_at timestamptz(3),
      revoked boolean not null default false,
      creator_id bigint references users on delete set null,
      created_at timestamptz(3) not null default now(),
      ${place},
      constraint deploy_tokens_digest unique (digest)
    )`.execute(db)
  await sql`create index deploy_tokens_project on deploy_tokens (project_id, id) where project_id is not null`.execute(
    db,
  )
  await sql`
    create index deploy_tokens_namespace on deploy_tokens (namespace_id, id) where namespace_id is not null`.execute(
    db,
  )

  // The users that the access tokens of a project or group stand for.
  await sql`
    create table resource_bots (
      user_id bigint primary key references users on delete cascade,
      ${place}
    )`.execute(db)
  await sql`create index resource_bots_project on resource_bots (project_id) where project_id is not null`.execute(
    db,
  )
  await sql`
    create index resource_bots_namespace on resource_bots (namespace_id) where namespace_id is not null`.execute(
    db,
  )
  // With the place go the tokens; the bot stays a while, since what it did names it.
  await sql`
    create function revoke_tokens_of_bot() returns trigger language plpgsql as $$
    begin
      update personal_access_tokens set revoked = true where user_id = old.user_id and not revoked;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger revoke_tokens after delete on resource_bots
    for each row execute function revoke_tokens_of_bot()`.execute(db)
}
