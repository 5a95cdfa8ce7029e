import { sql, type Reader } from '../../../kernel/db/index.ts'
import { enqueue } from '../../../tasks/index.ts'
import { recordState } from '../../noteables/index.ts'
import { announce } from '../news.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { afterMergeTask } from '../tasks.ts'

interface Ended {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly merge_user_id: number | null
}

/**
 * The commits of a merge are on the target branch: the request is merged. Once, whoever finds it out: the merge itself,
 * the news of the push, or whoever cleans up after a crash.
 */
export async function finishMerge(services: MergeRequestServices, id: number): Promise<boolean> {
  return services.db.transaction(async (tx) => {
    const { rows } = await sql<Ended>`
      update merge_requests set state = 'merged', merged_at = now(), merged_sha = merging_sha, merging_sha = null,
        locked_at = null, merge_status = 'can_be_merged', merge_error = null, auto_merge = false, updated_at = now()
      where id = ${id} and state = 'locked' and merging_sha is not null
      returning id, iid, project_id, merge_user_id`.execute(tx)
    const ended = rows[0]
    if (ended === undefined) return false
    await recordState(tx, { type: 'MergeRequest', id }, ended.merge_user_id, { state: 'merged' })
    await announce(services, tx, ended, ended.merge_user_id, { action: 'merge' })
    await enqueue(tx, afterMergeTask, { id })
    return true
  })
}

/** Somebody pushed its commits to the target branch by hand. */
export async function markMerged(
  services: MergeRequestServices,
  id: number,
  { by, head }: { readonly by: number | null; readonly head: string },
): Promise<void> {
  await services.db.transaction(async (tx) => {
    const { rows } = await sql<Ended>`
      update merge_requests set state = 'merged', merged_at = now(), merged_sha = ${head}, merge_user_id = ${by},
        merge_status = 'can_be_merged', merge_error = null, auto_merge = false, merge_params = '{}', updated_at = now()
      where id = ${id} and state = 'opened' and head_sha = ${head}
      returning id, iid, project_id, merge_user_id`.execute(tx)
    const ended = rows[0]
    if (ended === undefined) return
    await recordState(tx, { type: 'MergeRequest', id }, by, { state: 'merged' })
    await announce(services, tx, ended, by, { action: 'merge' })
    await enqueue(tx, afterMergeTask, { id })
  })
}

export const wentWrong = 'Merge failed: Something went wrong during merge. Please try again.'

/** As it was before a merge was begun; a merge that it was left to do by itself it still may do. */
export type BeforeMerge = Pick<MergeRequestRow, 'id' | 'auto_merge' | 'merge_params'> & {
  readonly merge_user: { readonly id: number } | null
}

/** The merge did not come about; why, for people. */
export async function reopenUnmerged(
  services: MergeRequestServices,
  { id, auto_merge: waits, merge_params: params, merge_user: user }: BeforeMerge,
  why: string,
): Promise<void> {
  await sql`
    update merge_requests set state = 'opened', locked_at = null, merging_sha = null, merge_commit_sha = null,
      squash_commit_sha = null, merge_error = ${why}, merge_user_id = ${waits ? (user?.id ?? null) : null},
      merge_params = ${JSON.stringify(waits ? params : {})}
    where id = ${id} and state = 'locked'`.execute(services.db.writer)
}

/** Whether a merge that is under way gives this branch this head: then the right to merge is enough to move it. */
export async function isMergeResult(
  db: Reader,
  projectId: number,
  branch: string,
  oid: string,
): Promise<boolean> {
  const { rows } = await sql`
    select from merge_requests m
    where m.project_id = ${projectId} and m.target_branch = ${branch} and m.state = 'locked'
      and m.merging_sha = ${oid}`.execute(db)
  return rows.length > 0
}
