import type { RawBuilder } from 'kysely'
import { sql } from '../kernel/db/index.ts'
import { membershipSource } from './enter.ts'
import { group, groupColumns, project, projectColumns } from './subjects.ts'

const found = {
  project: sql`
    select ${projectColumns}
    from routes r join projects p on p.id = r.project_id join namespaces n on n.id = p.namespace_id
    where r.path_key = asked.path`,
  group: sql`
    select ${groupColumns}
    from routes r join namespaces n on n.id = r.namespace_id
    where r.path_key = asked.path and not r.redirect and n.kind = 'group'`,
}

/**
 * The projects or groups of several paths that `actor` may see, as a select: `asked`, which is the path, the columns of
 * `subject`, and his `role` and `permissions` there. `paths` is a select of `path`, in lower case.
 */
export function visiblePlaces(kind: 'project' | 'group', paths: RawBuilder<unknown>): RawBuilder<unknown> {
  const of = kind === 'project' ? project : group
  return sql`
    select asked.path as asked, subject.*, membership.role,
      permissions_of_roles(membership.member_role_ids) as permissions
    from actor cross join (${paths}) asked
    cross join lateral (${found[kind]}) subject
    cross join lateral (${membershipSource(of)}) membership
    where ${of.visible}`
}
