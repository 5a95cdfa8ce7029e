import { sql, type Kysely } from 'kysely'

/** Who has to approve merge requests, as files in projects of policies say for the projects and groups linked to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await policies(db)
  await approvals(db)
}

async function policies(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table security_policy_links (
      id bigint generated always as identity primary key,
      project_id bigint references projects on delete cascade,
      namespace_id bigint references namespaces on delete cascade,
      policy_project_id bigint not null references projects on delete cascade,
      created_at timestamptz(3) not null default now(),
      constraint security_policy_links_project unique (project_id),
      constraint security_policy_links_namespace unique (namespace_id),
      check (num_nonnulls(project_id, namespace_id) = 1)
    )`.execute(db)
  await sql`
    create index security_policy_links_policies on security_policy_links (policy_project_id)`.execute(db)

  // refs_version: of the project when the file was read, so that a reader who is late changes nothing.
  await sql`
    create table security_policy_files (
      policy_project_id bigint primary key references projects on delete cascade,
      refs_version bigint not null,
      commit text,
      problem text
    )`.execute(db)
  // rank: among the policies of the project that could take effect, from 1; null for others.
  await sql`
    create table security_policies (
      id bigint generated always as identity primary key,
      policy_project_id bigint not null references projects on delete cascade,
      position integer not null,
      rank integer,
      name text not null,
      description text,
      enabled boolean not null,
      problem text,
      notes text[] not null,
      rules jsonb not null,
      actions jsonb not null,
      only_projects bigint[] not null,
      except_projects bigint[] not null,
      constraint security_policies_position unique (policy_project_id, position)
    )`.execute(db)
}

async function approvals(db: Kysely<unknown>): Promise<void> {
  // Those of a policy belong to no project: they hold in all that are linked.
  await sql`
    alter table approval_rules
      alter column project_id drop not null,
      add column policy_id bigint references security_policies on delete cascade,
      add column approver_levels smallint[] not null default '{}',
      add column fails_closed boolean not null default false,
      add constraint approval_rules_place check ((project_id is null) = (policy_id is not null)),
      drop constraint approval_rules_rule_type_check,
      add constraint approval_rules_rule_type_check
        check (rule_type in ('regular', 'any_approver', 'code_owner', 'report_approver'))`.execute(db)
  await sql`
    create index approval_rules_policy on approval_rules (policy_id) where policy_id is not null`.execute(db)
  // Found out with each version; what was open before counts as unsigned until the next push.
  await sql`alter table merge_requests add column unsigned_commits boolean not null default true`.execute(db)

  // A setting of the instance has a row where it differs from its default: 5.
  await sql`
    create function policy_rules(project bigint, branch text, unsigned boolean) returns setof bigint
    language plpgsql stable rows 2 as $$
    begin
      return query
      select distinct r.id
      from projects p
        join namespaces n on n.id = p.namespace_id
        join security_policy_links l on l.project_id = p.id or l.namespace_id = any (n.traversal_ids)
        join security_policies s on s.policy_project_id = l.policy_project_id
        join approval_rules r on r.policy_id = s.id
      where p.id = policy_rules.project
        and s.rank <= coalesce((
          select (setting.value #>> '{}')::int from application_settings setting
          where setting.name = 'security_approval_policies_limit'), 5)
        and (cardinality(s.only_projects) = 0 or p.id = any (s.only_projects))
        and p.id <> all (s.except_projects)
        and exists (
          select from jsonb_to_recordset(s.rules)
            b (effective boolean, branch_type text, branches text[], branch_exceptions jsonb, commits text)
          where b.effective and (b.commits = 'any' or policy_rules.unsigned)
            and (b.branch_type is distinct from 'default' or p.default_branch = policy_rules.branch)
            and (coalesce(cardinality(b.branches), 0) = 0 or exists (
              select from unnest(b.branches) named (name)
              where matches_branch_wildcard(named.name, policy_rules.branch)))
            and not exists (
              select from jsonb_to_recordset(b.branch_exceptions) e (name text, full_path text)
              where e.name = policy_rules.branch and (e.full_path is null or e.full_path = p.full_path)))
        and is_branch_protected(p.id, policy_rules.branch);
    end $$`.execute(db)

  // Named users have to be members. Groups are those of the whole instance, as is the default, or of the project's tree.
  await sql`
    create function policy_approvers(rule bigint, levels smallint[], project bigint) returns setof bigint
    language plpgsql stable as $$
    begin
      return query
      with place as (
        select p.id, n.traversal_ids as line from projects p join namespaces n on n.id = p.namespace_id
        where p.id = policy_approvers.project),
      people as (
        select e.user_id, max(e.access_level) as level
        from place cross join lateral effective_memberships(place.line, place.id) e group by e.user_id)
      select people.user_id from people
      where people.level = any (policy_approvers.levels) or exists (
        select from approval_rule_users x where x.rule_id = policy_approvers.rule and x.user_id = people.user_id)
      union
      select e.user_id
      from place cross join approval_rule_groups x join namespaces g on g.id = x.namespace_id
        cross join lateral effective_memberships(g.traversal_ids, null) e
      where x.rule_id = policy_approvers.rule and (g.traversal_ids[1] = place.line[1] or not exists (
        select from application_settings setting
        where setting.name = 'security_policy_global_group_approvers_enabled' and setting.value = 'false'));
    end $$`.execute(db)
}
