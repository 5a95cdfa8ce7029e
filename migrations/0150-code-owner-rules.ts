import { sql, type Kysely } from 'kysely'

/** Rules of merge requests that are made from the file of code owners, and branches on which they hold. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function requires_code_owners(project bigint, branch text) returns boolean
    language plpgsql stable as $$
    begin
      return exists (
        select from projects p join namespaces n on n.id = p.namespace_id
          join protected_branches b on b.project_id = p.id or b.namespace_id = n.traversal_ids[1]
        where p.id = requires_code_owners.project and b.code_owner_approval_required
          and matches_branch_wildcard(b.name, branch));
    end $$`.execute(db)
  // One pattern may stand in several sections.
  await sql`drop index approval_rules_request_name`.execute(db)
  await sql`
    create unique index approval_rules_request_name
    on approval_rules (merge_request_id, rule_type, coalesce(section, ''), name)
    where merge_request_id is not null`.execute(db)
}
