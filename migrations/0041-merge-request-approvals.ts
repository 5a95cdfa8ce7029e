import { sql, type Kysely } from 'kysely'

/** Approvals of merge requests, and how many of whom a project or one request asks for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // As `src/kernel/lib/wildcard.ts` matches: `*` stands for any run of characters, nothing else is special.
  await sql`
    create function matches_branch_wildcard(pattern text, branch text) returns boolean
    language sql immutable parallel safe as $$
      select branch like replace(replace(replace(replace(pattern, '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*', '%')
    $$`.execute(db)
  await sql`
    create function is_branch_protected(project bigint, branch text) returns boolean
    language plpgsql stable as $$
    begin
      return exists (
        select from projects p join namespaces n on n.id = p.namespace_id
          join protected_branches b on b.project_id = p.id or b.namespace_id = n.traversal_ids[1]
        where p.id = is_branch_protected.project and matches_branch_wildcard(b.name, branch));
    end $$`.execute(db)

  await sql`
    create table merge_request_approvals (
      merge_request_id bigint not null references merge_requests on delete cascade,
      user_id bigint not null references users on delete cascade,
      sha text not null,
      created_at timestamptz(3) not null default now(),
      primary key (merge_request_id, user_id)
    )`.execute(db)
  await sql`
    create index merge_request_approvals_user on merge_request_approvals (user_id, merge_request_id)`.execute(
    db,
  )

  // merge_request_id: a rule of one request; source_rule_id: the project's rule that it stands in for.
  await sql`
    create table approval_rules (
      id bigint generated always as identity primary key,
      project_id bigint not null references projects on delete cascade,
      merge_request_id bigint references merge_requests on delete cascade,
      source_rule_id bigint references approval_rules on delete cascade,
      name text not null,
      rule_type text not null default 'regular' check (rule_type in ('regular', 'any_approver', 'code_owner')),
      approvals_required integer not null check (approvals_required between 0 and 100),
      all_protected_branches boolean not null default false,
      section text,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    )`.execute(db)
  await sql`
    create unique index approval_rules_project_name on approval_rules (project_id, name)
    where merge_request_id is null`.execute(db)
  await sql`
    create unique index approval_rules_request_name on approval_rules (merge_request_id, rule_type, name)
    where merge_request_id is not null`.execute(db)
  await sql`
    create unique index approval_rules_any_approver
    on approval_rules (project_id, coalesce(merge_request_id, 0)) where rule_type = 'any_approver'`.execute(
    db,
  )
  await sql`
    create index approval_rules_source on approval_rules (source_rule_id) where source_rule_id is not null`.execute(
    db,
  )
  await sql`
    create table approval_rule_users (
      rule_id bigint not null references approval_rules on delete cascade,
      user_id bigint not null references users on delete cascade,
      primary key (rule_id, user_id)
    )`.execute(db)
  await sql`create index approval_rule_users_user on approval_rule_users (user_id)`.execute(db)
  await sql`
    create table approval_rule_groups (
      rule_id bigint not null references approval_rules on delete cascade,
      namespace_id bigint not null references namespaces on delete cascade,
      primary key (rule_id, namespace_id)
    )`.execute(db)
  await sql`create index approval_rule_groups_namespace on approval_rule_groups (namespace_id)`.execute(db)
  await sql`
    create table approval_rule_branches (
      rule_id bigint not null references approval_rules on delete cascade,
      protected_branch_id bigint not null references protected_branches on delete cascade,
      primary key (rule_id, protected_branch_id)
    )`.execute(db)
  await sql`
    create index approval_rule_branches_branch on approval_rule_branches (protected_branch_id)`.execute(db)
}
