import { sql, type Kysely } from 'kysely'

/** Custom roles: a base role and permissions on top of it, which memberships and shares can carry. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Without a group it is a role of the instance.
  await sql`
    create table member_roles (
      id bigint generated always as identity primary key,
      namespace_id bigint references namespaces on delete cascade,
      name text not null,
      description text,
      base_access_level smallint not null check (base_access_level in (10, 15, 20, 30, 40, 50)),
      permissions text[] not null default '{}',
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint member_roles_name unique nulls not distinct (namespace_id, name)
    )`.execute(db)
  // What a role gives changes for all who have it.
  await sql`
    create trigger mark_access_after_change after update or delete on member_roles
    for each statement execute function tree_marks_access()`.execute(db)

  // A role that members have is not deleted, but for its group; then the memberships go too.
  for (const table of ['members', 'invitations', 'group_shares', 'project_shares'] as const) {
    await sql`
      alter table ${sql.table(table)} add column member_role_id bigint references member_roles on delete set null`.execute(
      db,
    )
    await sql`
      create index ${sql.raw(`${table}_member_role`)} on ${sql.table(table)} (member_role_id)
      where member_role_id is not null`.execute(db)
  }
  await effectiveRoles(db)
  await acceptedInvitations(db)
  await seats(db)
}

const unexpired = (alias: string) => {
  const column = sql.raw(`${alias}.expires_at`)
  return sql`(${column} is null or ${column} > (now() at time zone 'utc')::date)`
}

/** A group may keep the projects in it from being shared; those that were before are not open any more. */
const cap = (level: ReturnType<typeof sql>) => sql`
  case when exists (
    select from namespaces k where k.id = any (line) and k.settings -> 'share_with_group_lock' = 'true') then 0::smallint
  else ${level} end`

async function effectiveRoles(db: Kysely<unknown>): Promise<void> {
  // As before (0028), and with the roles of the shares.
  await sql`drop function membership_sources(bigint[], bigint)`.execute(db)
  await sql`
    create function membership_sources(line bigint[], project bigint)
    returns table (namespace_id bigint, cap smallint, via bigint[], member_role_id bigint)
    language sql stable parallel safe as $$
      select own.id, 50::smallint, null::bigint[], null::bigint from unnest(line) own (id)
      union all
      select s.group_id, s.access_level, array[s.group_id], s.member_role_id from group_shares s
      where s.shared_id = any (line) and ${unexpired('s')}
      union all
      select above.id, ${cap(sql`s.access_level`)}, array[s.group_id], s.member_role_id
      from project_shares s join namespaces i on i.id = s.group_id
      cross join lateral unnest(i.traversal_ids) above (id)
      where s.project_id = project and ${unexpired('s')}
      union all
      select g.group_id, ${cap(sql`least(s.access_level, g.access_level)`)}, array[s.group_id, g.group_id],
        case when g.access_level <= s.access_level then g.member_role_id else s.member_role_id end
      from project_shares s join namespaces i on i.id = s.group_id join group_shares g on g.shared_id = any (i.traversal_ids)
      where s.project_id = project and ${unexpired('s')} and ${unexpired('g')}
    $$`.execute(db)

  // Who comes in by a share with his own level keeps his own role; whom it lowers has the one of the share.
  await sql`drop function effective_memberships(bigint[], bigint)`.execute(db)
  await sql`
    create function effective_memberships(line bigint[], project bigint)
    returns table (
      member_id bigint, user_id bigint, access_level smallint, namespace_id bigint, project_id bigint,
      expires_at date, created_by_id bigint, created_at timestamptz, via bigint[], member_role_id bigint
    ) language sql stable parallel safe as $$
      select m.id, m.user_id, least(m.access_level, s.cap), m.namespace_id, m.project_id, m.expires_at, m.created_by_id,
        m.created_at, s.via,
        case when m.access_level <= s.cap then m.member_role_id when s.cap > 0 then s.member_role_id end
      from membership_sources(line, project) s join members m on m.namespace_id = s.namespace_id
      where m.state = 'active' and ${unexpired('m')} and (m.access_level > 5
        or (project is null and s.via is null and m.namespace_id = line[cardinality(line)]))
      union all
      select m.id, m.user_id, m.access_level, m.namespace_id, m.project_id, m.expires_at, m.created_by_id, m.created_at,
        null, m.member_role_id
      from members m
      where m.project_id = project and m.state = 'active' and ${unexpired('m')}
    $$`.execute(db)

  // In PL/pgSQL and strict, so that it costs nothing where nobody has a role, as almost everywhere.
  await sql`
    create function permissions_of_roles(roles bigint[]) returns text[] language plpgsql stable strict parallel safe as $$
    begin
      return (
        select array_agg(distinct given.permission)
        from member_roles r, unnest(r.permissions) given (permission) where r.id = any (roles));
    end $$`.execute(db)
}

async function acceptedInvitations(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function accept_invitations(member bigint, address text) returns void language plpgsql as $$
    begin
      with accepted as (
        delete from invitations i where lower(i.email) = lower(address)
        returning i.namespace_id, i.project_id, i.access_level, i.expires_at, i.created_by_id, i.member_role_id)
      insert into members (user_id, namespace_id, project_id, access_level, expires_at, created_by_id, member_role_id)
      select member, a.namespace_id, a.project_id, a.access_level, a.expires_at, a.created_by_id, a.member_role_id
      from accepted a
      where a.expires_at is null or a.expires_at > (now() at time zone 'utc')::date
      on conflict do nothing;
    end $$`.execute(db)
}

/** `elevated`: a role that gives more than to read code takes a seat, whatever its base. */
async function seats(db: Kysely<unknown>): Promise<void> {
  const elevated = (role: ReturnType<typeof sql>) => sql`
    coalesce((select not r.permissions <@ array['read_code'] from member_roles r where r.id = ${role}), false)`
  const shared = sql`case when m.access_level <= s.access_level then m.member_role_id else s.member_role_id end`
  await sql`drop function seat_memberships(bigint)`.execute(db)
  await sql`
    create function seat_memberships(root bigint)
    returns table (user_id bigint, access_level smallint, created_at timestamptz, way int, elevated boolean)
    language sql stable parallel safe as $$
      select m.user_id, m.access_level, m.created_at, 1, ${elevated(sql`m.member_role_id`)}
      from namespaces n join members m on m.namespace_id = n.id
      where n.traversal_ids @> array[root] and m.state = 'active' and ${unexpired('m')}
      union all
      select m.user_id, m.access_level, m.created_at, 2, ${elevated(sql`m.member_role_id`)}
      from namespaces n join projects p on p.namespace_id = n.id join members m on m.project_id = p.id
      where n.traversal_ids @> array[root] and m.state = 'active' and ${unexpired('m')}
      union all
      select m.user_id, least(m.access_level, s.access_level), m.created_at, 3, ${elevated(shared)}
      from namespaces n join group_shares s on s.shared_id = n.id join members m on m.namespace_id = s.group_id
      where n.traversal_ids @> array[root] and m.state = 'active' and m.access_level > 5 and ${unexpired('m')}
        and ${unexpired('s')}
      union all
      select m.user_id, least(m.access_level, s.access_level), m.created_at, 4, ${elevated(shared)}
      from namespaces n join projects p on p.namespace_id = n.id join project_shares s on s.project_id = p.id
      join namespaces i on i.id = s.group_id cross join lateral unnest(i.traversal_ids) above (id)
      join members m on m.namespace_id = above.id
      where n.traversal_ids @> array[root] and m.state = 'active' and m.access_level > 5 and ${unexpired('m')}
        and ${unexpired('s')}
    $$`.execute(db)
}
