import { sql, type Kysely } from 'kysely'

/** Groups let into other groups and into projects, and what lists of very many members need. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await shares(db)
  await effectiveMemberships(db)
  await memberSets(db)
}

/** `group_id` is the group whose members come in. */
async function shares(db: Kysely<unknown>): Promise<void> {
  const rest = sql`
    group_id bigint not null references namespaces on delete cascade,
    access_level smallint not null check (access_level in (10, 15, 20, 30, 40, 50)),
    expires_at date,
    created_at timestamptz(3) not null default now(),
    updated_at timestamptz(3) not null default now()`
  await sql`
    create table group_shares (
      id bigint generated always as identity primary key,
      shared_id bigint not null references namespaces on delete cascade,
      ${rest},
      check (shared_id <> group_id),
      constraint group_shares_once unique (shared_id, group_id)
    )`.execute(db)
  await sql`create index group_shares_group on group_shares (group_id)`.execute(db)
  await sql`
    create table project_shares (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      ${rest},
      constraint project_shares_once unique (project_id, group_id)
    )`.execute(db)
  await sql`create index project_shares_group on project_shares (group_id)`.execute(db)
  // A share changes the access of many: remembered decisions are outdated as by a change of the tree.
  for (const table of ['group_shares', 'project_shares'] as const) {
    await sql`
      create trigger mark_access_after_change after insert or update or delete on ${sql.table(table)}
      for each statement execute function tree_marks_access()`.execute(db)
  }
}

const unexpired = (alias: string) => {
  const column = sql.raw(`${alias}.expires_at`)
  return sql`(${column} is null or ${column} > (now() at time zone 'utc')::date)`
}

async function effectiveMemberships(db: Kysely<unknown>): Promise<void> {
  // The namespaces whose direct members have access to a place, each with the highest level that it passes on; `via`
  // names the groups that were let in on the way. A group let into a group passes on its direct members only; one let
  // into a project also those whom it inherits or was itself shared with.
  await sql`
    create function membership_sources(line bigint[], project bigint)
    returns table (namespace_id bigint, cap smallint, via bigint[]) language sql stable parallel safe as $$
      select own.id, 50::smallint, null::bigint[] from unnest(line) own (id)
      union all
      select s.group_id, s.access_level, array[s.group_id] from group_shares s
      where s.shared_id = any (line) and ${unexpired('s')}
      union all
      select above.id, ${cap(sql`s.access_level`)}, array[s.group_id]
      from project_shares s join namespaces i on i.id = s.group_id
      cross join lateral unnest(i.traversal_ids) above (id)
      where s.project_id = project and ${unexpired('s')}
      union all
      select g.group_id, ${cap(sql`least(s.access_level, g.access_level)`)}, array[s.group_id, g.group_id]
      from project_shares s join namespaces i on i.id = s.group_id join group_shares g on g.shared_id = any (i.traversal_ids)
      where s.project_id = project and ${unexpired('s')} and ${unexpired('g')}
    $$`.execute(db)

  // As before, and with the shares. Minimal access stays where it was given.
  await sql`drop function effective_memberships(bigint[], bigint)`.execute(db)
  await sql`
    create function effective_memberships(line bigint[], project bigint)
    returns table (
      member_id bigint, user_id bigint, access_level smallint, namespace_id bigint, project_id bigint,
      expires_at date, created_by_id bigint, created_at timestamptz, via bigint[]
    ) language sql stable parallel safe as $$
      select m.id, m.user_id, least(m.access_level, s.cap), m.namespace_id, m.project_id, m.expires_at, m.created_by_id,
        m.created_at, s.via
      from membership_sources(line, project) s join members m on m.namespace_id = s.namespace_id
      where m.state = 'active' and ${unexpired('m')} and (m.access_level > 5
        or (project is null and s.via is null and m.namespace_id = line[cardinality(line)]))
      union all
      select m.id, m.user_id, m.access_level, m.namespace_id, m.project_id, m.expires_at, m.created_by_id, m.created_at,
        null
      from members m
      where m.project_id = project and m.state = 'active' and ${unexpired('m')}
    $$`.execute(db)

  // The same seen from a user: the groups that a membership of his opens, to be followed down their trees.
  await sql`
    create function membership_reach(member bigint)
    returns table (namespace_id bigint, access_level smallint) language sql stable parallel safe as $$
      select m.namespace_id, m.access_level from members m
      where m.user_id = member and m.namespace_id is not null and m.state = 'active' and ${unexpired('m')}
      union all
      select s.shared_id, least(m.access_level, s.access_level) from members m
      join group_shares s on s.group_id = m.namespace_id
      where m.user_id = member and m.access_level > 5 and m.state = 'active' and ${unexpired('m')} and ${unexpired('s')}
    $$`.execute(db)

  // Where that leads. A user may come to one place in several ways, each a row.
  await sql`
    create function reachable_groups(member bigint)
    returns table (group_id bigint, access_level smallint) language sql stable parallel safe as $$
      select below.id, r.access_level from membership_reach(member) r
      join namespaces below on below.traversal_ids @> array[r.namespace_id] and below.kind = 'group'
      where r.access_level > 5 or below.id = r.namespace_id
    $$`.execute(db)
  await sql`
    create function reachable_by_share(member bigint)
    returns table (project_id bigint, access_level smallint) language sql stable parallel safe as $$
      select s.project_id, least(r.access_level, s.access_level) from membership_reach(member) r
      join namespaces below on below.traversal_ids @> array[r.namespace_id]
      join project_shares s on s.group_id = below.id
      where r.access_level > 5 and ${unexpired('s')} and not exists (
        select from projects p join namespaces home on home.id = p.namespace_id
        join namespaces k on k.id = any (home.traversal_ids)
        where p.id = s.project_id and k.settings -> 'share_with_group_lock' = 'true')
    $$`.execute(db)
  await sql`
    create function reachable_projects(member bigint)
    returns table (project_id bigint, access_level smallint) language sql stable parallel safe as $$
      select m.project_id, m.access_level from members m
      where m.user_id = member and m.project_id is not null and m.state = 'active' and ${unexpired('m')}
      union all
      select p.id, r.access_level from membership_reach(member) r
      join namespaces below on below.traversal_ids @> array[r.namespace_id]
      join projects p on p.namespace_id = below.id
      where r.access_level > 5
      union all
      select s.project_id, s.access_level from reachable_by_share(member) s
    $$`.execute(db)
  // A member sees the groups above what he is a member of.
  await sql`
    create function known_groups(member bigint)
    returns table (group_id bigint) language sql stable parallel safe as $$
      select r.group_id from reachable_groups(member) r
      union
      select unnest(n.traversal_ids) from membership_reach(member) r join namespaces n on n.id = r.namespace_id
      union
      select unnest(n.traversal_ids) from members m
      join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
      where m.user_id = member and m.state = 'active' and ${unexpired('m')}
      union
      select unnest(n.traversal_ids) from reachable_by_share(member) s
      join projects p on p.id = s.project_id join namespaces n on n.id = p.namespace_id
    $$`.execute(db)

  // What few requests ask. In PL/pgSQL, since a plan that holds such a subquery is slower to start, asked or not.
  await sql`
    create function is_member_inside(member bigint, above bigint) returns boolean language plpgsql stable as $$
    begin
      return exists (
          select from membership_reach(member) r join namespaces n on n.id = r.namespace_id
          where n.traversal_ids @> array[above])
        or exists (
          select from members m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
          where m.user_id = member and m.state = 'active' and ${unexpired('m')} and n.traversal_ids @> array[above])
        or exists (
          select from reachable_by_share(member) s
          join projects p on p.id = s.project_id join namespaces n on n.id = p.namespace_id
          where n.traversal_ids @> array[above]);
    end $$`.execute(db)
  await sql`
    create function knows_invited(via bigint[], member bigint) returns boolean language plpgsql stable as $$
    begin
      return not exists (
        select from namespaces i where i.id = any (via) and i.visibility < 20 and not exists (
          select from effective_memberships(i.traversal_ids, null) e where e.user_id = member));
    end $$`.execute(db)
}

/** A group may keep the projects in it from being shared; those that were before are not open any more. */
const cap = (level: ReturnType<typeof sql>) => sql`
  case when exists (
    select from namespaces k where k.id = any (line) and k.settings -> 'share_with_group_lock' = 'true') then 0::smallint
  else ${level} end`

/**
 * Who is a direct member of a group, as sets of bits over the ids of users: the members of several groups are the union
 * of their sets, and their number and any page of them are found without walking through all. And how many memberships
 * there are in spans of their ids, for lists in that order. Triggers keep both; they hold every row, so who reads takes
 * away the few that do not count, because they have expired or are minimal.
 */
async function memberSets(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table member_blocks (
      namespace_id bigint not null references namespaces on delete cascade,
      block bigint not null,
      users bit(1024) not null,
      primary key (namespace_id, block)
    )`.execute(db)
  // Two sizes of span, as shifts of the id: the large ones lead to the small ones.
  await sql`
    create table member_spans (
      namespace_id bigint not null references namespaces on delete cascade,
      shift smallint not null,
      span bigint not null,
      live bigint not null,
      primary key (namespace_id, shift, span)
    )`.execute(db)
  await sql`create index members_expiring on members (namespace_id, expires_at) where expires_at is not null`.execute(
    db,
  )
  await sql`create index members_minimal on members (namespace_id) where access_level = 5`.execute(db)
  await sql`
    create index users_search on users using gin (name gin_trgm_ops, username gin_trgm_ops)`.execute(db)
  await sql`
    create index users_public_email on users (lower(public_email)) where public_email is not null`.execute(db)

  const bits = sql`bit_or(set_bit(0::bit(1024), (c.user_id & 1023)::int, 1))`
  const changed = (sign: 1 | -1) => sql`
    with counted as (
      select c.namespace_id, size.shift, c.id >> size.shift as span, count(*) as number
      from changed c, (values (14::smallint), (6::smallint)) size (shift)
      where c.namespace_id is not null group by 1, 2, 3 order by 1, 2, 3)
    ${
      sign === 1
        ? sql`
          insert into member_spans as s (namespace_id, shift, span, live)
          select c.namespace_id, c.shift, c.span, c.number from counted c
          on conflict (namespace_id, shift, span) do update set live = s.live + excluded.live`
        : sql`
          update member_spans s set live = s.live - c.number from counted c
          where s.namespace_id = c.namespace_id and s.shift = c.shift and s.span = c.span`
    };`
  await sql`
    create function note_new_members() returns trigger language plpgsql as $$
    begin
      insert into member_blocks as b (namespace_id, block, users)
      select c.namespace_id, c.user_id >> 10, ${bits} from changed c
      where c.namespace_id is not null group by 1, 2 order by 1, 2
      on conflict (namespace_id, block) do update set users = b.users | excluded.users;
      ${changed(1)}
      return null;
    end $$`.execute(db)
  await sql`
    create function note_gone_members() returns trigger language plpgsql as $$
    begin
      update member_blocks b set users = b.users & ~ gone.users
      from (
        select c.namespace_id, c.user_id >> 10 as block, ${bits} as users from changed c
        where c.namespace_id is not null group by 1, 2 order by 1, 2) gone
      where b.namespace_id = gone.namespace_id and b.block = gone.block;
      ${changed(-1)}
      return null;
    end $$`.execute(db)
  await sql`
    create trigger members_added after insert on members referencing new table as changed
    for each statement execute function note_new_members()`.execute(db)
  await sql`
    create trigger members_removed after delete on members referencing old table as changed
    for each statement execute function note_gone_members()`.execute(db)

  await sql`
    insert into member_blocks (namespace_id, block, users)
    select c.namespace_id, c.user_id >> 10, ${bits} from members c where c.namespace_id is not null group by 1, 2`.execute(
    db,
  )
  await sql`
    insert into member_spans (namespace_id, shift, span, live)
    select c.namespace_id, size.shift, c.id >> size.shift, count(*)
    from members c, (values (14::smallint), (6::smallint)) size (shift) where c.namespace_id is not null
    group by 1, 2, 3`.execute(db)
}
