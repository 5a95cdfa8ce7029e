import type { RawBuilder } from 'kysely'
import { sql, type Reader } from '../../kernel/db/index.ts'
import type { Records, RelationName } from './format.ts'

/** Records that are read at one time. */
const batch = 500

interface Source {
  readonly from: RawBuilder<unknown>
  readonly id: RawBuilder<unknown>
  readonly record: RawBuilder<unknown>
}

/** Of the groups `g` below one, itself included. */
const path = sql`coalesce(substr(g.full_path, length(top.full_path) + 2), '')`

/** Each joins the groups `g` of the tree with what they hold. */
function sourceOf(relation: RelationName): Source {
  switch (relation) {
    case 'groups':
      return {
        from: sql``,
        // Parents are older than what is below them, but for what was moved.
        id: sql`cardinality(g.traversal_ids)::bigint << 48 | g.id`,
        record: sql`json_build_object('path', ${path}, 'name', g.name, 'description', g.description,
          'visibility', g.visibility)`,
      }
    case 'labels':
      return {
        from: sql`join labels l on l.namespace_id = g.id`,
        id: sql`l.id`,
        record: sql`json_build_object('group', ${path}, 'title', l.title, 'description', l.description,
          'color', l.color, 'priority', null)`,
      }
    case 'milestones':
      return {
        from: sql`join milestones m on m.namespace_id = g.id`,
        id: sql`m.id`,
        record: sql`json_build_object('group', ${path}, 'iid', m.iid, 'title', m.title,
          'description', m.description, 'state', m.state, 'start_date', m.start_date, 'due_date', m.due_date,
          'created_at', m.created_at, 'updated_at', m.updated_at)`,
      }
    case 'epics':
      return {
        from: sql`join epics e on e.namespace_id = g.id`,
        id: sql`e.id`,
        record: sql`json_build_object('group', ${path}, 'iid', e.iid, 'title', e.title,
          'description', e.description, 'state', e.state, 'confidential', e.confidential, 'color', e.color,
          'start_date', e.start_date_fixed, 'due_date', e.due_date_fixed, 'created_at', e.created_at,
          'updated_at', e.updated_at, 'closed_at', e.closed_at,
          'author', (select u.username from users u where u.id = e.author_id),
          'parent', (select p.iid from epics p where p.id = e.parent_id and p.namespace_id = e.namespace_id),
          'labels', coalesce((select json_agg(l.title order by l.title) from noteable_labels n
            join labels l on l.id = n.label_id and l.namespace_id = e.namespace_id
            where n.noteable_type = 'Epic' and n.noteable_id = e.id), '[]'))`,
      }
  }
}

/** Of which groups: one with all below it, or it alone; and which records by their ids, as of projects. */
export interface Range {
  readonly alone?: boolean
  readonly after: number
  readonly upTo?: number | undefined
}

function groupsOf(groupId: number, alone: boolean): RawBuilder<unknown> {
  return alone
    ? sql`namespaces top join namespaces g on g.id = top.id and top.id = ${groupId}`
    : sql`namespaces top join namespaces g on g.traversal_ids @> array[top.id] and g.kind = 'group'
        and g.marked_for_deletion_at is null and top.id = ${groupId}`
}

/** The records of a kind, some at a time. */
export async function* readRelation<Name extends RelationName>(
  db: Reader,
  relation: Name,
  groupId: number,
  { alone = false, after, upTo = Number.MAX_SAFE_INTEGER }: Range = { after: 0 },
): AsyncGenerator<Records[Name]> {
  const { from, id, record } = sourceOf(relation)
  for (let last = after; ;) {
    const { rows } = await sql<{ id: number; record: Records[Name] }>`
      select ${id} as id, ${record} as record from ${groupsOf(groupId, alone)} ${from}
      where ${id} > ${last} and ${id} <= ${upTo} order by ${id} limit ${batch}`.execute(db)
    for (const row of rows) yield row.record
    if (rows.length < batch) return
    last = rows.at(-1)!.id
  }
}

/** Ids of the next records of a relation of the group alone. */
export async function idsBehind(
  db: Reader,
  relation: RelationName,
  groupId: number,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const { from, id } = sourceOf(relation)
  const { rows } = await sql<{ id: number }>`
    select ${id} as id from ${groupsOf(groupId, true)} ${from}
    where ${id} > ${after} order by ${id} limit ${limit}`.execute(db)
  return rows.map((row) => row.id)
}
