import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'
import { memberGroups, Role } from '../../access/index.ts'
import { page, rows, type PageInput, type Read } from '../../kernel/endpoint/index.ts'
import type { NamespaceRow } from './entities.ts'
import { namespaceAvatar } from '../avatars/index.ts'
import { seatHolders } from './seats.ts'

const columns = sql`
  n.id, n.name, n.path, n.kind, n.full_path, n.parent_id, ${namespaceAvatar('n')} as avatar,
  case when n.kind = 'group' and (actor.admin or n.id in (${memberGroups(Role.owner)})) then (
    select count(distinct m.user_id)
    from (select b.id from namespaces b where b.traversal_ids @> array[n.id] offset 0) below
    join members m on m.namespace_id = below.id) end as members_count_with_descendants,
  case when actor.admin then (
    select count(*) from (select b.id from namespaces b where b.traversal_ids @> array[n.id] offset 0) below
    join projects p on p.namespace_id = below.id) end as projects_count,
  case when actor.admin and n.parent_id is null then (
    select coalesce(sum(p.repository_size), 0)::bigint
    from (select b.id from namespaces b where b.traversal_ids @> array[n.id] offset 0) below
    join projects p on p.namespace_id = below.id) end as root_repository_size`

/** The caller's own namespace and the groups he is a member of, from this level on; for administrators all. */
function belongs(minimum: number, adminsSeeAll: boolean): RawBuilder<unknown> {
  const all = adminsSeeAll ? sql`actor.admin or` : sql``
  return sql`(${all} n.owner_id = actor.id or n.id in (${memberGroups(minimum)}))`
}

export interface NamespaceFilter {
  readonly search?: string | undefined
  readonly full_path_search?: boolean | undefined
  readonly owned_only?: boolean | undefined
  readonly top_level_only?: boolean | undefined
}

export function list(filter: NamespaceFilter, input: PageInput): Read<NamespaceRow> {
  const { search, full_path_search: fullPath, owned_only: owned, top_level_only: topOnly } = filter
  const pattern = `%${(search ?? '').replace(/[\\%_]/g, '\\$&')}%`
  const conditions = [
    owned === true ? belongs(Role.owner, false) : belongs(Role.guest, true),
    ...(search === undefined || search === ''
      ? []
      : [
          fullPath === true
            ? sql`n.full_path ilike ${pattern}`
            : sql`(n.name ilike ${pattern} or n.path ilike ${pattern})`,
        ]),
    ...(topOnly === true ? [sql`n.parent_id is null`] : []),
  ]
  return page(
    { columns, from: sql`from namespaces n where ${sql.join(conditions, sql` and `)}`, order: sql`n.id` },
    input,
  )
}

/** By id or full path. `seatsAbove`: with how many take a seat, all above this level; for a large tree that is some work. */
export function one(id: string, seatsAbove: number | undefined): Read<NamespaceRow> {
  const condition = /^\d{1,15}$/.test(id)
    ? sql`n.id = ${Number(id)}`
    : sql`n.id = (
        select r.namespace_id from routes r where r.path_key = ${id.toLowerCase()} and not r.redirect)`
  const seats =
    seatsAbove === undefined
      ? sql``
      : sql`, case when ${belongs(Role.owner, true)} then (
          select count(*) from ${seatHolders(sql`n.id`, seatsAbove)}) end as billable_members_count,
          (select m.seats from most_seats m where m.namespace_id = n.id) as most_seats`
  return rows(
    sql`select ${columns} ${seats} from namespaces n where ${condition} and ${belongs(Role.guest, true)}`,
  )
}

/**
 * Whether a path is in use at the top or in a parent group that the caller may see, and if it is, the first one with a
 * number behind it that is not.
 */
export function existence(
  path: string,
  parentId: number | undefined,
  visible: RawBuilder<unknown>,
): Read<{ exists: boolean; suggestion: string | null }> {
  const prefix =
    parentId === undefined
      ? sql`select '' as prefix`
      : sql`select lower(n.full_path) || '/' as prefix from namespaces n where n.id = ${parentId} and n.kind = 'group' and ${visible}`
  const used = (name: RawBuilder<unknown>) => sql`exists (
    select from routes r where r.path_key = place.prefix || ${name} and not r.redirect)`
  const key = sql`${path.toLowerCase()}::text`
  return rows(sql`
    select found.exists, case when found.exists then (
      select ${path}::text || number from generate_series(1, 1000) number
      where not ${used(sql`${key} || number`)} order by number limit 1) end as suggestion
    from (${prefix}) place, lateral (select ${used(key)} as exists) found`)
}
