import type { RawBuilder } from 'kysely'
import { sql, type Database, type Tx } from '../../kernel/db/index.ts'
import { afterTransfers, type MovedPlace } from '../noteables/index.ts'
import type { Events } from '../../tasks/index.ts'

/** What is in other groups now keeps its labels: those of groups that are no longer above become its own. */
export function mendLabelsAfterTransfers({ db, events }: { db: Database; events: Events }): void {
  afterTransfers({ events, reader: db.reader }, 'labels', (place) => db.transaction((tx) => mend(tx, place)))
}

/** The noteables of a place that have labels, as rows of `noteable_labels x`. */
function labelledIn({ projectId, namespaceId }: MovedPlace): RawBuilder<unknown> {
  const of = (type: string, table: string, where: RawBuilder<unknown>) => sql`
    select x.noteable_type, x.noteable_id, x.label_id from ${sql.table(table)} t
    join noteable_labels x on x.noteable_type = ${sql.lit(type)} and x.noteable_id = t.id where ${where}`
  return projectId === null
    ? of('Epic', 'epics', sql`t.namespace_id = ${namespaceId}`)
    : sql`
        ${of('Issue', 'issues', sql`t.project_id = ${projectId}`)}
        union all ${of('MergeRequest', 'merge_requests', sql`t.project_id = ${projectId}`)}`
}

async function mend(tx: Tx, place: MovedPlace): Promise<void> {
  const { projectId, namespaceId } = place
  const line = [...place.line]
  const { rows } = await sql<{ id: number; title: string }>`
    select distinct l.id, l.title from (${labelledIn(place)}) x join labels l on l.id = x.label_id
    where l.namespace_id <> all (${line}::bigint[]) order by l.id`.execute(tx)
  if (rows.length === 0) return
  const old = rows.map(({ id }) => id)
  const known = sql`(o.project_id = ${projectId} or o.namespace_id = any (${line}::bigint[]))`
  await sql`
    insert into labels (project_id, namespace_id, title, description, color)
    select distinct on (l.title) ${projectId}::bigint, ${namespaceId}::bigint, l.title, l.description, l.color
    from labels l
    where l.id = any (${old}::bigint[])
      and not exists (select from labels o where o.title = l.title and ${known})
    order by l.title, l.id on conflict do nothing`.execute(tx)
  const { rows: pairs } = await sql<{ old_id: number; new_id: number }>`
    select l.id as old_id, (
      select o.id from labels o where o.title = l.title and ${known}
      order by o.project_id nulls last, array_position(${line}::bigint[], o.namespace_id) desc limit 1) as new_id
    from labels l where l.id = any (${old}::bigint[])`.execute(tx)
  const renamed = sql`jsonb_to_recordset(${JSON.stringify(pairs)}) r (old_id bigint, new_id bigint)`
  await sql`
    with found as (
      select x.noteable_type, x.noteable_id, r.old_id, r.new_id
      from (${labelledIn(place)}) x join ${renamed} on r.old_id = x.label_id
    ), gone as (
      delete from noteable_labels x using found f
      where x.noteable_type = f.noteable_type and x.noteable_id = f.noteable_id and x.label_id = f.old_id
    )
    insert into noteable_labels (noteable_type, noteable_id, label_id)
    select distinct f.noteable_type, f.noteable_id, f.new_id from found f on conflict do nothing`.execute(tx)
  if (projectId === null) return
  await sql`
    with gone as (
      delete from label_priorities pr using ${renamed}
      where pr.project_id = ${projectId} and pr.label_id = r.old_id
      returning r.new_id, pr.priority
    )
    insert into label_priorities (project_id, label_id, priority)
    select ${projectId}::bigint, g.new_id, min(g.priority) from gone g group by g.new_id
    on conflict do nothing`.execute(tx)
}
