import { sql, type Kysely } from 'kysely'

/**
 * Whether somebody sees what a discussion refers to. Few discussions refer to anything, and in PL/pgSQL what decides is
 * planned when one does, not with every list of discussions. The rules are those of `issueVisibleAnywhere` and its like
 * in `src/access`, by the reader's role in the one place that it is about. A null reader is nobody in particular.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function sees_reference(
      ref_kind text, ref_id bigint, ref_project bigint, reader bigint, is_admin boolean, is_external boolean)
    returns boolean language plpgsql stable parallel safe as $$
    declare
      thing record;
      place record;
      role integer;
      within integer := case ref_kind when 'Commit' then 20 else 10 end;
      feature text := case ref_kind when 'Issue' then 'issues' when 'Snippet' then 'snippets' else 'repository' end;
    begin
      if ref_kind = 'Epic' then
        select n.id, n.visibility, n.traversal_ids as line, e.confidential into place
        from epics e join namespaces n on n.id = e.namespace_id where e.id = ref_id;
        if not found then return false; end if;
        if is_admin then return true; end if;
        select coalesce(max(m.access_level), 0) into role
        from effective_memberships(place.line, null) m where m.user_id = reader;
        return (place.visibility = 20 or (place.visibility = 10 and not is_external) or role >= 10
            or is_member_inside(reader, place.id))
          and (not place.confidential or role >= 15);
      end if;

      case ref_kind
      when 'Issue' then
        select i.project_id, i.confidential as secret, coalesce(i.author_id = reader, false) or exists (
            select from issue_assignees a where a.issue_id = i.id and a.user_id = reader) as mine
        into thing from issues i where i.id = ref_id;
      when 'MergeRequest' then
        select m.project_id, m.audience into thing from merge_requests m where m.id = ref_id;
      when 'Snippet' then
        select s.project_id, s.visibility, coalesce(s.author_id = reader, false) as mine
        into thing from snippets s where s.id = ref_id;
      else
        select ref_project as project_id into thing;
      end case;

      select p.id, p.visibility, n.traversal_ids as line, coalesce((p.feature_levels ->> feature)::integer, 20) as level
      into place from projects p join namespaces n on n.id = p.namespace_id where p.id = thing.project_id;
      if not found then return false; end if;
      select coalesce(max(m.access_level), 0) into role
      from effective_memberships(place.line, place.id) m where m.user_id = reader;
      if not (is_admin or place.visibility = 20 or (place.visibility = 10 and not is_external) or role >= 10) then
        return false;
      end if;
      if ref_kind = 'MergeRequest' then
        return thing.audience = 20
          or (thing.audience = 10 and reader is not null and (not is_external or role >= 10))
          or (thing.audience = 0 and role >= 15) or (thing.audience = -10 and role >= 20)
          or (thing.audience > -20 and is_admin);
      end if;
      if not (place.level >= 20 or (place.level > 0 and (is_admin or role >= within))) then return false; end if;
      if ref_kind = 'Issue' then
        return not thing.secret or is_admin or thing.mine or role >= 15;
      elsif ref_kind = 'Snippet' then
        return thing.visibility = 20 or is_admin or thing.mine or role >= 10
          or (thing.visibility = 10 and not is_external);
      end if;
      return place.visibility > 0 or is_admin or role >= 15;
    end $$`.execute(db)
}
