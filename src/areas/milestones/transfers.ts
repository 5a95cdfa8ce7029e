import { nextIid, sql, type Database, type Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import { afterTransfers, type MovedPlace } from '../noteables/index.ts'

/** What is planned in a project that is in other groups now stays planned: for a milestone of its own, if need be. */
export function mendMilestonesAfterTransfers({ db, events }: { db: Database; events: Events }): void {
  afterTransfers({ events, reader: db.reader }, 'milestones', async (place) => {
    if (place.projectId !== null) await db.transaction((tx) => mend(tx, place, place.projectId!))
  })
}

const planned = ['issues', 'merge_requests'] as const

async function mend(tx: Tx, place: MovedPlace, projectId: number): Promise<void> {
  const line = [...place.line]
  const used = planned.map(
    (table) => sql`
      select t.milestone_id from ${sql.table(table)} t
      where t.project_id = ${projectId} and t.milestone_id is not null`,
  )
  const { rows } = await sql<{ id: number; title: string }>`
    select m.id, m.title from milestones m
    where m.id in (${sql.join(used, sql` union `)}) and m.namespace_id <> all (${line}::bigint[])
    order by m.id`.execute(tx)
  for (const { id, title } of rows) {
    const { rows: known } = await sql<{ id: number }>`
      select m.id from milestones m
      where m.title = ${title} and (m.project_id = ${projectId} or m.namespace_id = any (${line}::bigint[]))
      order by m.project_id nulls last, m.id limit 1`.execute(tx)
    const other = known[0]?.id ?? (await copyInto(tx, projectId, id))
    for (const table of planned) {
      await sql`
        update ${sql.table(table)} t set milestone_id = ${other}
        where t.project_id = ${projectId} and t.milestone_id = ${id}`.execute(tx)
    }
  }
}

async function copyInto(tx: Tx, projectId: number, id: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    with counter as (${nextIid({ projectId }, 'milestone')})
    insert into milestones (iid, project_id, title, description, state, start_date, due_date)
    select counter.iid, ${projectId}::bigint, m.title, m.description, m.state, m.start_date, m.due_date
    from counter, milestones m where m.id = ${id} returning id`.execute(tx)
  return rows[0]!.id
}
