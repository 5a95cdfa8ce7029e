import { sql } from '../../../kernel/db/index.ts'
import { enterAs, may, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import { offers } from '../../../kernel/config/index.ts'
import { enqueue, type DomainEvent } from '../../../tasks/index.ts'
import type { ReviewEvent } from '../../notes/index.ts'
import type { MergeRequestServices } from '../services.ts'
import { tellOf, told } from '../system-notes.ts'
import { autoMergeTask } from '../tasks.ts'

/**
 * Keeps what a reviewer made of a request with his review. Who wants changes is a reviewer from then on: until he has
 * another opinion the request is not merged. So that is for whoever was asked to review it, and for those who may change
 * it; what others think are notes.
 */
export async function noteReview(
  { db, plan }: Pick<MergeRequestServices, 'db' | 'plan'>,
  { payload, projectId, userId }: DomainEvent<ReviewEvent>,
): Promise<void> {
  const { mergeRequestId: id, state } = payload
  if (userId === null || projectId === null) return
  const joins =
    state === 'requested_changes' &&
    offers(plan, 'approval_rules') &&
    (await mayChange({ db }, projectId, userId))
  await db.transaction(async (tx) => {
    const { rows } = await sql<{ auto_merge: boolean }>`
      select m.auto_merge from merge_requests m where m.id = ${id} for no key update`.execute(tx)
    const request = rows[0]
    if (request === undefined) return
    const changed = await sql`
      with joined as (
        insert into merge_request_reviewers (merge_request_id, user_id, state)
        select ${id}, ${userId}, ${state} where ${joins}
        on conflict do nothing returning user_id)
      update merge_request_reviewers x set state = ${state}
      where x.merge_request_id = ${id} and x.user_id = ${userId} and x.state <> ${state}
        and (x.state <> 'approved' or ${state} = 'requested_changes')
      returning x.user_id`.execute(tx)
    if (state === 'requested_changes') {
      if (changed.rows.length === 0 && !joins) return
      await tellOf(tx, { id, project_id: projectId }, userId, [told.requestedChanges])
    } else if (changed.rows.length > 0 && request.auto_merge) await enqueue(tx, autoMergeTask, { id })
  })
}

async function mayChange(
  { db }: Pick<MergeRequestServices, 'db'>,
  projectId: number,
  userId: number,
): Promise<boolean> {
  const entered = await enterAs<ProjectSubject>(db, projectKind, userId, projectId)
  return entered !== undefined && may(entered.actor, 'update_merge_request', entered.subject)
}
