import type { RawBuilder } from 'kysely'
import { sql } from '../../kernel/db/index.ts'

/** What happened to a thing of the project, in the order in which it did; `HistoryRecord`. */
export function historyOf(
  kind: 'Issue' | 'MergeRequest',
  { id, projectId }: { readonly id: RawBuilder<unknown>; readonly projectId: number },
): RawBuilder<unknown> {
  const list = (table: string, fields: RawBuilder<unknown>): RawBuilder<unknown> => sql`coalesce((
    select json_agg(json_build_object(${fields}, 'user', u.username, 'created_at', e.created_at) order by e.id)
    from ${sql.table(table)} e left join users u on u.id = e.user_id
    where e.noteable_type = ${kind} and e.noteable_id = ${id}), '[]')`
  return sql`json_build_object(
    'states', ${list('resource_state_events', sql`'state', e.state`)},
    'milestones', ${list(
      'resource_milestone_events',
      sql`'action', e.action, 'state', e.state, 'milestone', (
        select m.iid from milestones m where m.id = e.milestone_id and m.project_id = ${projectId})`,
    )},
    'labels', ${list(
      'resource_label_events',
      sql`'action', e.action, 'label', (
        select l.title from labels l where l.id = e.label_id and l.project_id = ${projectId})`,
    )},
    'times', ${list('timelogs', sql`'seconds', e.time_spent, 'summary', e.summary, 'spent_at', e.spent_at`)})`
}
