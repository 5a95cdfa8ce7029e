import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { roleJson, type MemberRoleRow } from '../member-roles/index.ts'

export interface MembershipRow {
  readonly id: number
  readonly source_type: 'group' | 'project'
  readonly source_id: number
  readonly source_full_path: string
  /** As it counts here: a share may lower it. */
  readonly access_level: number
  readonly given_access_level: number
  readonly expires_at: string | null
  readonly member_role: MemberRoleRow | null
  /** Full paths of the groups that were let in on the way; null: none. */
  readonly via: readonly string[] | null
}

/** The memberships by which somebody comes to the group or project that is the subject, the highest first. */
export function memberships(kind: 'group' | 'project', userId: number): Read<MembershipRow> {
  const project: RawBuilder<unknown> = kind === 'project' ? sql`subject.id` : sql`null::bigint`
  return rows(sql`
    select m.member_id as id, case when p.id is null then 'group' else 'project' end as source_type,
      coalesce(p.id, n.id) as source_id, coalesce(p.full_path, n.full_path) as source_full_path,
      m.access_level, given.access_level as given_access_level, m.expires_at,
      ${roleJson(sql`m.member_role_id`)} as member_role,
      (select json_agg(i.full_path order by passed.at)
        from unnest(m.via) with ordinality passed (id, at) join namespaces i on i.id = passed.id) as via
    from effective_memberships(subject.line, ${project}) m join members given on given.id = m.member_id
    left join projects p on p.id = m.project_id left join namespaces n on n.id = m.namespace_id
    where m.user_id = ${userId}
    order by m.access_level desc, m.via nulls first, m.member_id`)
}
