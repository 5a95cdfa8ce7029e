import { sql, type Database } from '../../kernel/db/index.ts'
import type { Task } from '../../tasks/index.ts'

export const unassignTask = 'members:unassign'

/** Somebody who has left, and the place whose issues and merge requests he is to be taken off. */
export interface Unassignment {
  readonly userId: number
  readonly kind: 'group' | 'project'
  readonly placeId: number
}

/** Takes somebody off what lies in a project, or in all projects of a group and below. */
export function unassigning(db: Database): Task<Unassignment> {
  return {
    name: unassignTask,
    async run({ userId, kind, placeId }) {
      const projects =
        kind === 'project'
          ? sql`select ${placeId}::bigint`
          : sql`
              select p.id from namespaces n join projects p on p.namespace_id = n.id
              where n.traversal_ids @> array[${placeId}::bigint]`
      await db.transaction(async (tx) => {
        await sql`
          delete from issue_assignees a using issues i
          where a.user_id = ${userId} and i.id = a.issue_id and i.project_id in (${projects})`.execute(tx)
        await sql`
          delete from merge_request_assignees a using merge_requests m
          where a.user_id = ${userId} and m.id = a.merge_request_id and m.project_id in (${projects})`.execute(
          tx,
        )
      })
    },
  }
}
