import { sql, type RawBuilder } from 'kysely'
import type { Reader } from '../../kernel/db/index.ts'
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

/** The records of a kind in a group and all below it, some at a time. */
export async function* readRelation<Name extends RelationName>(
  db: Reader,
  relation: Name,
  groupId: number,
): AsyncGenerator<Records[Name]> {
  const { from, id, record } = sourceOf(relation)
  for (let after = 0; ;) {
    const { rows } = await sql<{ id: number; record: Records[Name] }>`
      select ${id} as id, ${record} as record
      from namespaces top join namespaces g on g.traversal_ids @> array[top.id] and g.kind = 'group'
        and g.marked_for_deletion_at is null ${from}
      where top.id = ${groupId} and ${id} > ${after} order by ${id} limit ${batch}`.execute(db)
    for (const row of rows) yield row.record
    if (rows.length < batch) return
    after = rows.at(-1)!.id
  }
}
