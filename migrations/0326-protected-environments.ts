import { sql, type Kysely } from 'kysely'

const unexpired = sql`(s.expires_at is null or s.expires_at > (now() at time zone 'utc')::date)`

/** Who may deploy to which environments, and whose approval that needs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Rules of a project name an environment, those of a group a tier of them.
  await sql`
    create table protected_environments (
      id bigint generated always as identity primary key,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      name text not null,
      required_approval_count smallint not null default 0 check (required_approval_count between 0 and 5),
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      check (num_nonnulls(project_id, namespace_id) = 1),
      constraint protected_environments_name unique (project_id, name),
      constraint protected_environments_group_name unique (namespace_id, name)
    )`.execute(db)
  // required_approvals: of those who approve alone.
  await sql`
    create table protected_environment_entries (
      id bigint generated always as identity primary key,
      protected_environment_id bigint not null references protected_environments on delete cascade,
      action text not null check (action in ('deploy', 'approve')),
      access_level smallint,
      user_id bigint references users on delete cascade,
      group_id bigint references namespaces on delete cascade,
      group_inheritance_type smallint not null default 0 check (group_inheritance_type in (0, 1)),
      required_approvals smallint check (required_approvals between 1 and 5),
      check (num_nonnulls(access_level, user_id, group_id) = 1),
      check ((action = 'approve') = (required_approvals is not null))
    )`.execute(db)
  await sql`
    create index protected_environment_entries_rule
    on protected_environment_entries (protected_environment_id, id)`.execute(db)
  await sql`
    create index protected_environment_entries_user on protected_environment_entries (user_id)
    where user_id is not null`.execute(db)
  await sql`
    create index protected_environment_entries_group on protected_environment_entries (group_id)
    where group_id is not null`.execute(db)
  await sql`
    create table deployment_approvals (
      id bigint generated always as identity primary key,
      deployment_id bigint not null references deployments on delete cascade,
      user_id bigint not null references users on delete cascade,
      entry_id bigint references protected_environment_entries on delete set null,
      status text not null check (status in ('approved', 'rejected')),
      comment text,
      created_at timestamptz(3) not null default now(),
      constraint deployment_approvals_user unique (deployment_id, user_id)
    )`.execute(db)
  await sql`create index deployment_approvals_by on deployment_approvals (user_id)`.execute(db)
  await sql`
    create index deployment_approvals_entry on deployment_approvals (entry_id) where entry_id is not null`.execute(
    db,
  )
  await functions(db)
}

async function functions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function environment_protections(of_project bigint, environment text, of_tier text)
    returns setof bigint language sql stable rows 1 as $$
      select r.id from protected_environments r where r.project_id = of_project and r.name = environment
      union all
      select r.id from projects p join namespaces n on n.id = p.namespace_id
        join protected_environments r on r.namespace_id = any (n.traversal_ids) and r.name = of_tier
      where p.id = of_project
    $$`.execute(db)
  // A group counts as long as the project is shared with it or lies below it; roles are those of the rule's own place.
  await sql`
    create function environment_entry_admits(entry bigint, member bigint) returns boolean language sql stable as $$
      select exists (
        select from protected_environment_entries l
          join protected_environments r on r.id = l.protected_environment_id
          left join projects p on p.id = r.project_id
          join namespaces n on n.id = coalesce(r.namespace_id, p.namespace_id)
        where l.id = entry and case
          when l.user_id is not null then l.user_id = member
          when l.group_id is not null then exists (
            select from namespaces g, effective_memberships(g.traversal_ids, null) m
            where g.id = l.group_id and m.user_id = member
              and (l.group_inheritance_type = 1 or (m.via is null and m.namespace_id = g.id))
              and (p.id is null or g.id = any (n.traversal_ids) or exists (
                select from project_shares s where s.project_id = p.id and s.group_id = g.id and ${unexpired})))
          else exists (
            select from effective_memberships(n.traversal_ids, p.id) m
            where m.user_id = member and m.access_level >= l.access_level)
        end)
    $$`.execute(db)
  // Of a deployment, null: of one that is not there yet.
  await sql`
    create function pending_approvals(environment bigint, deployment bigint) returns bigint language sql stable as $$
      select coalesce(sum(case when named.required is null
        then greatest(r.required_approval_count - (
          select count(*) from deployment_approvals a
          where a.deployment_id = deployment and a.status = 'approved'), 0)
        else named.required end), 0)::bigint
      from environments e, environment_protections(e.project_id, e.name, e.tier) x
        join protected_environments r on r.id = x,
        lateral (
          select sum(greatest(l.required_approvals - (
            select count(*) from deployment_approvals a
            where a.deployment_id = deployment and a.entry_id = l.id and a.status = 'approved'), 0)) as required
          from protected_environment_entries l
          where l.protected_environment_id = r.id and l.action = 'approve') named
      where e.id = environment
    $$`.execute(db)
}
