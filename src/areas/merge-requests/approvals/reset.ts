import { sql } from 'kysely'
import type { Tx } from '../../../kernel/db/index.ts'
import type { RequestProject } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { approvalSettings } from './settings.ts'

/**
 * What was said of a request before its source was pushed holds no longer: a merge that was left to happen by itself is
 * called off, and its approvals go where the project wants that.
 */
export async function resetAfterPush(
  { plan }: Pick<MergeRequestServices, 'plan'>,
  tx: Tx,
  { id }: Pick<MergeRequestRow, 'id'>,
  target: Pick<RequestProject, 'settings'>,
): Promise<void> {
  await sql`
    update merge_requests set auto_merge = false, merge_params = '{}', merge_user_id = null
    where id = ${id} and auto_merge`.execute(tx)
  if (plan !== 'free' && approvalSettings(target.settings).reset_approvals_on_push)
    await resetApprovals(tx, id)
}

/** Everybody may approve, and is asked, again. */
export async function resetApprovals(tx: Tx, id: number): Promise<void> {
  await sql`delete from merge_request_approvals a where a.merge_request_id = ${id}`.execute(tx)
  await sql`
    update merge_request_reviewers set state = 'unreviewed'
    where merge_request_id = ${id} and state in ('approved', 'unapproved')`.execute(tx)
}
