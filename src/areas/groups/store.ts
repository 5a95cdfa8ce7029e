import type { RawBuilder } from 'kysely'
import { actorRow, groupArchived, groupLevels, Role, type Actor } from '../../access/index.ts'
import { sql, type Reader, type Tx } from '../../kernel/db/index.ts'
import { rows, type Read } from '../../kernel/endpoint/index.ts'
import { placeAvatar } from '../avatars/index.ts'
import { attributesColumn } from '../custom-attributes/index.ts'
import { lineName } from '../namespaces/index.ts'
import { deletionMarkOf, embeddedProjects, markedOn, unlinkOpenForks } from '../projects/index.ts'
import { sealedTokenOf } from '../registration-tokens/index.ts'
import { sharedWith } from '../shares/index.ts'
import type { GroupRow } from './entities.ts'
import type { StoredSettings } from './settings.ts'

export const groupMark = deletionMarkOf('namespaces', 'n')

/** Columns of `GroupRow`, over `namespaces n` joined as `groupLevels` says. */
export const groupColumns = sql`
  n.id, n.parent_id, n.traversal_ids as line, n.name, n.path, n.full_path, n.description, n.visibility, n.settings,
  n.created_at,
  ${lineName('n')} as line_name,
  ${placeAvatar('group', 'n')} as avatar, access.role, ${groupArchived} as archived,
  ${markedOn('n')} as marked_for_deletion_on,
  (select json_build_object('cn', l.cn, 'group_access', l.group_access)
    from ldap_group_links l where l.namespace_id = n.id order by l.id limit 1) as ldap,
  (select w.storage from wikis w where w.namespace_id = n.id) as wiki_storage`

const detailColumns = sql`
  ${groupColumns}, ${sharedWith('group', sql`n.id`, sql`access.role`)} as shared_with_groups,
  ${sealedTokenOf('namespace_id', sql`n.id`)} as sealed_runners_token`

/** The group that is the subject, read together with the caller's access. */
export function ofSubject(withProjects: boolean, withAttributes: boolean | undefined): Read<GroupRow> {
  const projects: RawBuilder<unknown> = withProjects
    ? sql`, ${embeddedProjects('own')} as projects, ${embeddedProjects('shared')} as shared_projects`
    : sql``
  return rows(
    sql`select ${detailColumns}${attributesColumn('group', sql`n.id`, withAttributes)} ${projects} from namespaces n ${groupLevels} where n.id = subject.id`,
  )
}

/** One group as this caller finds it, whether or not he may see it. */
export async function read(db: Reader, actor: Actor, id: number): Promise<GroupRow> {
  const { rows: found } = await sql<{ group: GroupRow }>`
    select to_json(r) as group from (
      select ${detailColumns} from ${actorRow(actor)} join namespaces n on n.id = ${id} ${groupLevels}) r`.execute(
    db,
  )
  return found[0]!.group
}

export interface NewGroup {
  readonly parent:
    { readonly id: number; readonly line: readonly number[]; readonly fullPath: string } | undefined
  readonly name: string
  readonly path: string
  readonly description: string
  readonly visibility: number
  readonly settings: StoredSettings
  readonly creatorId: number
}

/** The group, with its creator as its Owner. */
export async function insert(tx: Tx, group: NewGroup): Promise<number> {
  const fullPath = group.parent === undefined ? group.path : `${group.parent.fullPath}/${group.path}`
  const { rows: made } = await sql<{ id: number }>`
    with next as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id), made as (
      insert into namespaces (id, kind, parent_id, name, path, full_path, traversal_ids, visibility, description, settings)
      overriding system value
      select next.id, 'group', ${group.parent?.id ?? null}, ${group.name}, ${group.path}, ${fullPath},
        ${[...(group.parent?.line ?? [])]}::bigint[] || next.id, ${group.visibility}, ${group.description},
        ${JSON.stringify(group.settings)}
      from next returning id
    ), owner as (
      insert into members (user_id, namespace_id, access_level, created_by_id)
      select ${group.creatorId}, made.id, ${Role.owner}, ${group.creatorId} from made
    )
    select id from made`.execute(tx)
  return made[0]!.id
}

/** What an update of a group starts from. Call `lockTree` first. */
export interface LockedGroup {
  readonly id: number
  readonly parent_id: number | null
  readonly name: string
  readonly path: string
  readonly description: string
  readonly visibility: number
  readonly settings: StoredSettings
  readonly parent_visibility: number | null
  /** The highest visibility among the groups and projects right below; 0 where there are none. */
  readonly groups_below: number
  readonly projects_below: number
}

export async function lock(tx: Tx, id: number): Promise<LockedGroup | undefined> {
  const { rows: found } = await sql<LockedGroup>`
    select n.id, n.parent_id, n.name, n.path, n.description, n.visibility, n.settings, a.visibility as parent_visibility,
      coalesce((select max(c.visibility) from namespaces c where c.parent_id = n.id), 0) as groups_below,
      coalesce((select max(p.visibility) from projects p where p.namespace_id = n.id), 0) as projects_below
    from namespaces n left join namespaces a on a.id = n.parent_id where n.id = ${id} for update of n`.execute(
    tx,
  )
  return found[0]
}

export interface GroupChanges {
  readonly name: string
  readonly description: string
  readonly visibility: number
  readonly settings: StoredSettings
}

export async function change(tx: Tx, id: number, changes: GroupChanges): Promise<void> {
  await sql`
    update namespaces set name = ${changes.name}, description = ${changes.description},
      visibility = ${changes.visibility}, settings = ${JSON.stringify(changes.settings)}, updated_at = now()
    where id = ${id}`.execute(tx)
}

/** Closes the runners of the instance to all groups and projects below. */
export async function closeRunnersBelow(tx: Tx, id: number): Promise<void> {
  await sql`
    update namespaces set settings = settings || '{"shared_runners_setting": "disabled_and_unoverridable"}', updated_at = now()
    where traversal_ids @> array[${id}::bigint] and id <> ${id}`.execute(tx)
  await sql`
    update projects p set settings = p.settings || '{"shared_runners_enabled": false}', updated_at = now()
    from namespaces n where n.id = p.namespace_id and n.traversal_ids @> array[${id}::bigint]`.execute(tx)
}

/** Removes the group and all that lies below it. */
export async function remove(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('namespaces').where('id', '=', id).execute()
}

/** How many levels of groups a group and those below it make up. */
export async function heightOf(tx: Tx, id: number): Promise<number> {
  const { rows: found } = await sql<{ height: number }>`
    select max(cardinality(b.traversal_ids)) - min(cardinality(b.traversal_ids)) + 1 as height
    from namespaces b where b.traversal_ids @> array[${id}::bigint]`.execute(tx)
  return found[0]?.height ?? 1
}

/** Gives this level to what is open to more people, at and below a group; forks open to more than their source leave it. */
export async function lowerVisibility(tx: Tx, id: number, visibility: number): Promise<void> {
  await sql`
    update namespaces set visibility = ${visibility}, updated_at = now()
    where traversal_ids @> array[${id}::bigint] and visibility > ${visibility}`.execute(tx)
  const { rows: lowered } = await sql<{ id: number }>`
    update projects p set visibility = ${visibility}, updated_at = now()
    from namespaces n where n.id = p.namespace_id and n.traversal_ids @> array[${id}::bigint] and p.visibility > ${visibility}
    returning p.id`.execute(tx)
  for (const project of lowered) await unlinkOpenForks(tx, project.id, visibility)
}

/** Closes the runners of the instance to a group and all below it. */
export async function closeRunners(tx: Tx, id: number): Promise<void> {
  await sql`
    update namespaces set settings = settings || '{"shared_runners_setting": "disabled_and_unoverridable"}'
    where id = ${id}`.execute(tx)
  await closeRunnersBelow(tx, id)
}

/** Groups whose days are over, at most `limit`, with the top of their trees. */
export async function dueGroups(
  db: Reader,
  days: number,
  limit: number,
): Promise<{ readonly id: number; readonly root: number }[]> {
  const { rows: found } = await sql<{ id: number; root: number }>`
    select n.id, n.traversal_ids[1] as root from namespaces n where ${groupMark.overdue(days)}
    order by n.marked_for_deletion_at, n.id limit ${limit}`.execute(db)
  return found
}

/** Holds the group; tells whether its days are still over. */
export async function lockDue(tx: Tx, id: number, days: number): Promise<boolean> {
  const { rows: found } = await sql`
    select from namespaces n where n.id = ${id} and ${groupMark.overdue(days)} for update`.execute(tx)
  return found.length > 0
}
