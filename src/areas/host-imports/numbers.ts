import { sql } from '../../kernel/db/index.ts'
import type { Work } from './work.ts'

/** The number of the next issue or merge request that has been brought. */
export async function nextNumber(
  { room, project }: Pick<Work, 'room' | 'project'>,
  kind: 'Issue' | 'MergeRequest' | 'any',
  after: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ iid: number | null }>`
    select least(
      (select min(m.iid) from merge_requests m
        where ${kind !== 'Issue'} and m.project_id = ${project.id} and m.iid > ${after}),
      (select min(i.iid) from issues i
        where ${kind !== 'MergeRequest'} and i.project_id = ${project.id} and i.iid > ${after})) as iid`.execute(
    room.db.writer,
  )
  return rows[0]?.iid ?? undefined
}
