import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import {
  groupLevels,
  memberGroups,
  memberProjects,
  projectLevels,
  visibilityName,
  visibilityNames,
} from '../../access/index.ts'
import {
  Fields,
  Id,
  Int,
  ListOf,
  Nullable,
  OneOf,
  rows,
  Text,
  type PageInput,
  type Read,
} from '../../kernel/endpoint/index.ts'
import { BriefNamespace, projectIdentity } from '../namespaces/index.ts'
import { homeColumns, homeEntity, type HomeRow } from '../projects/index.ts'

const AssociatedGroup = Fields({
  id: Id(),
  web_url: Text(),
  name: Text(),
  parent_id: Nullable(Id()),
  organization_id: Int(),
  access_levels: Int({ description: 'Highest level of the user' }),
  visibility: OneOf(visibilityNames, {}),
})

const AssociatedProject = Fields({
  ...projectIdentity,
  access_levels: Fields({ project_access_level: Nullable(Int()), group_access_level: Nullable(Int()) }),
  visibility: OneOf(visibilityNames, {}),
  web_url: Text(),
  namespace: BriefNamespace,
})

export const Associations = Fields({ groups: ListOf(AssociatedGroup), projects: ListOf(AssociatedProject) })

interface GroupRow {
  readonly id: number
  readonly full_path: string
  readonly name: string
  readonly parent_id: number | null
  readonly role: number
  readonly visibility: number
}

interface ProjectRow extends HomeRow {
  readonly id: number
  readonly description: string | null
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly created_at: string
  readonly project_access: number | null
  readonly group_access: number | null
  readonly visibility: number
}

export interface AssociationsRow {
  readonly groups: readonly GroupRow[]
  readonly projects: readonly ProjectRow[]
}

/** One page of the groups, and of the projects, of which the caller is a member in any way. */
export function associations(
  minimum: number | undefined,
  { limit, offset }: PageInput,
): Read<AssociationsRow> {
  const window = sql`limit ${limit} offset ${offset}`
  const collected = (query: RawBuilder<unknown>) =>
    sql`(select coalesce(json_agg(r), '[]'::json) from (${query}) r)`
  const groups = sql`
    select n.id, n.full_path, n.name, n.parent_id, access.role, n.visibility
    from namespaces n ${groupLevels}
    where n.id in (select distinct mine.group_id from (${memberGroups(minimum)}) mine order by mine.group_id ${window})
    order by n.id`
  const projects = sql`
    select p.id, p.description, p.name, p.path, p.full_path, p.created_at, access.project_access, access.group_access,
      p.visibility,
      ${homeColumns('n')}
    from projects p join namespaces n on n.id = p.namespace_id ${projectLevels}
    where p.id in (select distinct mine.project_id from (${memberProjects(minimum)}) mine order by mine.project_id ${window})
    order by p.id`
  return rows(sql`select ${collected(groups)} as groups, ${collected(projects)} as projects`)
}

export function associationsEntity({ groups, projects }: AssociationsRow, externalUrl: string) {
  return {
    groups: groups.map(({ full_path, role, visibility, ...group }) => ({
      ...group,
      web_url: `${externalUrl}/groups/${full_path}`,
      organization_id: 1,
      access_levels: role,
      visibility: visibilityName(visibility),
    })),
    projects: projects.map((row) => ({
      id: row.id,
      description: row.description,
      name: row.name,
      name_with_namespace: `${row.line_name} / ${row.name}`,
      path: row.path,
      path_with_namespace: row.full_path,
      created_at: row.created_at,
      access_levels: { project_access_level: row.project_access, group_access_level: row.group_access },
      visibility: visibilityName(row.visibility),
      web_url: `${externalUrl}/${row.full_path}`,
      namespace: homeEntity(row, externalUrl),
    })),
  }
}
