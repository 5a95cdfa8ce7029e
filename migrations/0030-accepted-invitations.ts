import { sql, type Kysely } from 'kysely'

/** What happens to invitations when somebody signs up, and who takes a seat of a top-level group. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Written by signing in.
  await sql`alter table users add column last_sign_in_at timestamptz(3)`.execute(db)

  // Called when a user is made whose address is confirmed: each invitation of that address becomes a membership.
  await sql`
    create function accept_invitations(member bigint, address text) returns void language plpgsql as $$
    begin
      with accepted as (
        delete from invitations i where lower(i.email) = lower(address)
        returning i.namespace_id, i.project_id, i.access_level, i.expires_at, i.created_by_id)
      insert into members (user_id, namespace_id, project_id, access_level, expires_at, created_by_id)
      select member, a.namespace_id, a.project_id, a.access_level, a.expires_at, a.created_by_id from accepted a
      where a.expires_at is null or a.expires_at > (now() at time zone 'utc')::date
      on conflict do nothing;
    end $$`.execute(db)

  // All memberships that may make somebody billable for a top-level group, each with the way it leads in: 1 a group of
  // the tree, 2 a project there, 3 a group let into one of these groups, 4 one let into a project.
  const lasts = (alias: string) => {
    const column = sql.raw(`${alias}.expires_at`)
    return sql`(${column} is null or ${column} > (now() at time zone 'utc')::date)`
  }
  await sql`
    create function seat_memberships(root bigint)
    returns table (user_id bigint, access_level smallint, created_at timestamptz, way int)
    language sql stable parallel safe as $$
      select m.user_id, m.access_level, m.created_at, 1
      from namespaces n join members m on m.namespace_id = n.id
      where n.traversal_ids @> array[root] and m.state = 'active' and ${lasts('m')}
      union all
      select m.user_id, m.access_level, m.created_at, 2
      from namespaces n join projects p on p.namespace_id = n.id join members m on m.project_id = p.id
      where n.traversal_ids @> array[root] and m.state = 'active' and ${lasts('m')}
      union all
      select m.user_id, least(m.access_level, s.access_level), m.created_at, 3
      from namespaces n join group_shares s on s.shared_id = n.id join members m on m.namespace_id = s.group_id
      where n.traversal_ids @> array[root] and m.state = 'active' and m.access_level > 5 and ${lasts('m')} and ${lasts('s')}
      union all
      select m.user_id, least(m.access_level, s.access_level), m.created_at, 4
      from namespaces n join projects p on p.namespace_id = n.id join project_shares s on s.project_id = p.id
      join namespaces i on i.id = s.group_id cross join lateral unnest(i.traversal_ids) above (id)
      join members m on m.namespace_id = above.id
      where n.traversal_ids @> array[root] and m.state = 'active' and m.access_level > 5 and ${lasts('m')} and ${lasts('s')}
    $$`.execute(db)
}
