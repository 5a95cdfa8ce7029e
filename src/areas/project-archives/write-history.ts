import { sql, type Tx } from '../../kernel/db/index.ts'
import type { HistoryRecord } from './format.ts'
import { userNamed, type Target } from './target.ts'

/** Writes down what happened to things that were just made. Time that was spent is in their own rows, too. */
export async function writeHistory(
  tx: Tx,
  target: Target,
  kind: 'Issue' | 'MergeRequest',
  things: readonly { readonly id: number; readonly history: HistoryRecord }[],
): Promise<void> {
  if (things.length === 0) return
  const { projectId } = target
  const user = userNamed(target, sql`e."user"`)
  await sql`
    with given as (
      select g.* from jsonb_to_recordset(${JSON.stringify(things)}) g (id bigint, history jsonb)
    ), states as (
      insert into resource_state_events (noteable_type, noteable_id, user_id, created_at, state)
      select ${kind}, g.id, ${user}, e.created_at, e.state
      from given g cross join lateral jsonb_array_elements(g.history -> 'states') with ordinality l (value, at)
      cross join lateral jsonb_to_record(l.value) e (state text, "user" text, created_at timestamptz)
      order by g.id, l.at
    ), milestones as (
      insert into resource_milestone_events (noteable_type, noteable_id, user_id, created_at, action, state,
        milestone_id)
      select ${kind}, g.id, ${user}, e.created_at, e.action, e.state, (
        select m.id from milestones m where m.project_id = ${projectId} and m.iid = e.milestone)
      from given g cross join lateral jsonb_array_elements(g.history -> 'milestones') with ordinality l (value, at)
      cross join lateral jsonb_to_record(l.value) e (action text, state text, milestone bigint, "user" text,
        created_at timestamptz)
      order by g.id, l.at
    ), labels as (
      insert into resource_label_events (noteable_type, noteable_id, user_id, created_at, action, label_id)
      select ${kind}, g.id, ${user}, e.created_at, e.action, (
        select x.id from labels x where x.project_id = ${projectId} and x.title = e.label)
      from given g cross join lateral jsonb_array_elements(g.history -> 'labels') with ordinality l (value, at)
      cross join lateral jsonb_to_record(l.value) e (action text, label text, "user" text, created_at timestamptz)
      order by g.id, l.at
    )
    insert into timelogs (noteable_type, noteable_id, user_id, created_at, time_spent, summary, spent_at)
    select ${kind}, g.id, ${user}, e.created_at, e.seconds, e.summary, e.spent_at
    from given g cross join lateral jsonb_array_elements(g.history -> 'times') with ordinality l (value, at)
    cross join lateral jsonb_to_record(l.value) e (seconds integer, summary text, spent_at timestamptz, "user" text,
      created_at timestamptz)
    order by g.id, l.at`.execute(tx)
}
