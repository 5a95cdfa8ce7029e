import { sql, type Kysely } from 'kysely'

/** Wikis of projects and groups: repositories of their own, with a journal and the pages that events speak of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Made with the first page, upload or push. The repository lies where the id says, whatever its owner is called.
  await sql`
    create table wikis (
      id bigint generated always as identity primary key,
      project_id bigint unique references projects on delete cascade,
      namespace_id bigint unique references namespaces on delete cascade,
      storage text not null default 'default',
      default_branch text not null,
      refs_version bigint not null default 0,
      empty boolean not null default true,
      created_at timestamptz(3) not null default now(),
      check (num_nonnulls(project_id, namespace_id) = 1)
    )`.execute(db)

  // As ref_updates for projects: what is still 'prepared' after a crash is compared with the repository. 'told' once
  // the events of its pages are written.
  await sql`
    create table wiki_ref_updates (
      id bigint generated always as identity primary key,
      wiki_id bigint not null references wikis on delete cascade,
      user_id bigint references users on delete set null,
      state text not null default 'prepared' check (state in ('prepared', 'applied', 'told')),
      updates jsonb not null,
      created_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create index wiki_ref_updates_wiki on wiki_ref_updates (wiki_id, id)`.execute(db)
  await sql`
    create index wiki_ref_updates_prepared on wiki_ref_updates (created_at) where state = 'prepared'`.execute(
    db,
  )

  // A page as events name it: its id stays while it is renamed. A row is made when news of the page are written.
  await sql`
    create table wiki_pages (
      id bigint generated always as identity primary key,
      wiki_id bigint not null references wikis on delete cascade,
      slug text not null,
      created_at timestamptz(3) not null default now(),
      constraint wiki_pages_slug unique (wiki_id, slug)
    )`.execute(db)

  // However a wiki goes, with its project, its group or a user's namespace, its repository goes after it.
  await sql`
    create function remove_wiki_repository() returns trigger language plpgsql as $$
    begin
      perform graphile_worker.add_job(
        identifier => 'wikis:remove-repository',
        payload => json_build_object('id', old.id, 'storage', old.storage));
      return null;
    end $$`.execute(db)
  await sql`
    create trigger wikis_removed after delete on wikis
    for each row execute function remove_wiki_repository()`.execute(db)
}
