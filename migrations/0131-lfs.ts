import { sql, type Kysely } from 'kysely'

/** Large files: their content by its digest, the projects that have it, and who works on which file alone. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // oid: SHA-256 in hex. touched_at: content that no project has is removed some time after that.
  await sql`
    create table lfs_objects (
      oid text primary key check (oid ~ '^[0-9a-f]{64}$'),
      size bigint not null check (size >= 0),
      touched_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`
    create table lfs_links (
      project_id bigint not null references projects on delete cascade,
      oid text not null references lfs_objects,
      primary key (oid, project_id)
    )`.execute(db)
  await sql`create index lfs_links_project on lfs_links (project_id)`.execute(db)
  await sql`
    create table lfs_locks (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      user_id bigint not null references users on delete cascade,
      path text not null check (length(path) between 1 and 4096),
      locked_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`create unique index lfs_locks_path on lfs_locks (project_id, md5(path))`.execute(db)
  await sql`create index lfs_locks_list on lfs_locks (project_id, id)`.execute(db)
  await sql`create index lfs_locks_user on lfs_locks (user_id)`.execute(db)

  // What a project has of the one it was made from, or got by merging from a fork, it keeps when that one goes.
  await sql`
    create function leave_lfs_links() returns trigger language plpgsql as $$
    begin
      insert into lfs_links (project_id, oid)
      select heir.id, l.oid from lfs_links l, (
        select p.id from projects p where p.forked_from_id = old.id
        union
        select r.project_id from merge_requests r
        where r.source_project_id = old.id and r.project_id <> old.id and r.state = 'merged') heir
      where l.project_id = old.id
      on conflict do nothing;
      return old;
    end $$`.execute(db)
  await sql`
    create trigger leave_lfs_links before delete on projects for each row execute function leave_lfs_links()`.execute(
    db,
  )
  // Content that loses its last project has its time from then on.
  await sql`
    create function touch_lfs_objects() returns trigger language plpgsql as $$
    begin
      update lfs_objects o set touched_at = now() from gone where o.oid = gone.oid;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger touch_lfs_objects after delete on lfs_links
    referencing old table as gone for each statement execute function touch_lfs_objects()`.execute(db)
}
