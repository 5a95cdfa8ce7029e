import { sql, type Tx } from '../../kernel/db/index.ts'
import type { Noteable } from './noteable.ts'

/*
 * The record of what became of a noteable, which the resource event endpoints show. Each is written in the transaction
 * of the change. Labels are recorded where they are attached (`areas/labels`).
 */

export interface StateChange {
  readonly state: 'opened' | 'reopened' | 'closed' | 'merged'
  /** What made it so: the commit, or the merge request's id. */
  readonly sourceCommit?: string | undefined
  readonly sourceMergeRequestId?: number | undefined
}

export async function recordState(
  tx: Tx,
  { type, id }: Noteable,
  userId: number | null,
  { state, sourceCommit, sourceMergeRequestId }: StateChange,
): Promise<void> {
  await sql`
    insert into resource_state_events
      (noteable_type, noteable_id, user_id, state, source_commit, source_merge_request_id)
    values (${type}, ${id}, ${userId}, ${state}, ${sourceCommit ?? null}, ${sourceMergeRequestId ?? null})`.execute(
    tx,
  )
}

/** `state`: of the noteable at that time. */
export async function recordMilestone(
  tx: Tx,
  { type, id }: Noteable,
  userId: number | null,
  change: { readonly from: number | null; readonly to: number | null; readonly state: string },
): Promise<void> {
  const { from, to, state } = change
  if (from === to) return
  await sql`
    insert into resource_milestone_events (noteable_type, noteable_id, user_id, milestone_id, action, state)
    values (${type}, ${id}, ${userId}, ${to ?? from}, ${to === null ? 'remove' : 'add'}, ${state})`.execute(
    tx,
  )
}

export async function recordWeight(
  tx: Tx,
  { type, id }: Noteable,
  userId: number | null,
  weight: number | null,
): Promise<void> {
  await sql`
    insert into resource_weight_events (noteable_type, noteable_id, user_id, weight)
    values (${type}, ${id}, ${userId}, ${weight})`.execute(tx)
}
