import { sql, type Kysely } from 'kysely'

/** Which project was made from which, and who likes which. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // `fork_network`: the id of the project that the network of forks began with, also when that one is gone; null in a
  // project that was made from no other, which begins its own. Two projects are of one network when
  // coalesce(fork_network, id) is the same.
  await sql`
    alter table projects
      add column forked_from_id bigint references projects on delete set null,
      add column fork_network bigint,
      add column import_status text not null default 'none'
        check (import_status in ('none', 'scheduled', 'started', 'finished', 'failed', 'canceled')),
      add column import_type text,
      add column import_error text,
      add column forks_count bigint not null default 0,
      add column star_count bigint not null default 0`.execute(db)
  await sql`
    create index projects_forks on projects (forked_from_id, created_at, id) where forked_from_id is not null`.execute(
    db,
  )
  await sql`create index projects_fork_network on projects (fork_network) where fork_network is not null`.execute(
    db,
  )
  await sql`create index projects_order_stars on projects (visibility, star_count, id)`.execute(db)

  await sql`
    create table project_stars (
      user_id bigint not null references users on delete cascade,
      project_id bigint not null references projects on delete cascade,
      created_at timestamptz(3) not null default now(),
      primary key (user_id, project_id)
    )`.execute(db)
  await sql`create index project_stars_project on project_stars (project_id, created_at, user_id)`.execute(db)

  // For what is seldom there, such as where a fork comes from: in PL/pgSQL, since a plan that holds the search for
  // memberships is slower to start, asked or not.
  await sql`
    create function role_in_project(project bigint, member bigint) returns smallint language plpgsql stable as $$
    begin
      return (
        select coalesce(max(m.access_level), 0) from projects p join namespaces n on n.id = p.namespace_id
        cross join lateral effective_memberships(n.traversal_ids, p.id) m
        where p.id = role_in_project.project and m.user_id = role_in_project.member);
    end $$`.execute(db)

  // Counted as rows come and go, also by cascades: lists are ordered by these numbers.
  await sql`
    create function count_forks() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' and old.forked_from_id is not null then
        update projects set forks_count = forks_count - 1 where id = old.forked_from_id;
      end if;
      if tg_op <> 'DELETE' and new.forked_from_id is not null then
        update projects set forks_count = forks_count + 1 where id = new.forked_from_id;
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger count_new_fork after insert on projects
    for each row when (new.forked_from_id is not null) execute function count_forks()`.execute(db)
  await sql`
    create trigger count_moved_fork after update of forked_from_id on projects
    for each row when (old.forked_from_id is distinct from new.forked_from_id) execute function count_forks()`.execute(
    db,
  )
  await sql`
    create trigger count_gone_fork after delete on projects
    for each row when (old.forked_from_id is not null) execute function count_forks()`.execute(db)

  await sql`
    create function count_stars() returns trigger language plpgsql as $$
    begin
      update projects set star_count = star_count + case tg_op when 'INSERT' then 1 else -1 end
      where id = case tg_op when 'INSERT' then new.project_id else old.project_id end;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger count_stars after insert or delete on project_stars
    for each row execute function count_stars()`.execute(db)
}
