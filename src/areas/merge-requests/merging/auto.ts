import {
  enterAs,
  project as projectKind,
  userOf,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { sql, type Tx, type Writer } from '../../../kernel/db/index.ts'
import { ApiError } from '../../../kernel/errors/index.ts'
import { enqueue } from '../../../tasks/index.ts'
import { pushedSha } from '../../pipelines/index.ts'
import { announce } from '../news.ts'
import { findDetail, mayMerge } from '../reading/one.ts'
import type { MergeParams, MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { tellOf, told, toldOfAutoMerge } from '../system-notes.ts'
import { autoMergeTask } from '../tasks.ts'
import { refreshMergeRequest } from '../versions/refresh.ts'
import { checkMergeability } from './check.ts'
import { merge } from './merge.ts'
import { circumstances } from '../show.ts'
import { failingChecks, isPipelineRunning, type DetailedMergeStatus } from './status.ts'

/** What goes away by itself, or by what others do, without a new push. */
const passing: ReadonlySet<DetailedMergeStatus> = new Set([
  'requested_changes',
  'not_approved',
  'merge_request_blocked',
  'merge_time',
  'draft_status',
  'discussions_not_resolved',
  'title_regex',
  'ci_must_pass',
  'ci_still_running',
  'locked_lfs_files',
])

/** Whether a merge can be left to happen by itself: nothing is in the way that needs work on the branches. */
export function canWait(failing: readonly DetailedMergeStatus[]): boolean {
  return failing.every((check) => passing.has(check))
}

/** Leaves the merge to happen once all checks pass. */
export async function scheduleMerge(
  services: MergeRequestServices,
  actor: Actor,
  row: MergeRequestRow,
  { squash = row.squash, ...params }: MergeParams,
): Promise<boolean> {
  return services.db.transaction(async (tx) => {
    const { rows } = await sql`
      update merge_requests set auto_merge = true, merge_user_id = ${userOf(actor).id}, squash = ${squash},
        merge_params = ${JSON.stringify(params)}, updated_at = now()
      where id = ${row.id} and state = 'opened' and head_sha = ${row.head_sha} returning id`.execute(tx)
    if (rows.length === 0) return false
    const changes = { auto_merge: { from: row.auto_merge, to: true } }
    if (row.merge_after !== null) {
      await enqueue(tx, autoMergeTask, { id: row.id }, { runAt: new Date(row.merge_after) })
    }
    if (row.auto_merge) return true
    await tellOf(tx, row, userOf(actor).id, [toldOfAutoMerge(row.head_sha)])
    await announce(services, tx, row, actor, { action: 'auto_merge', changes })
    return true
  })
}

/** False: there was nothing to be called off. */
export async function cancelScheduled(
  services: MergeRequestServices,
  actor: Actor,
  row: MergeRequestRow,
): Promise<boolean> {
  return services.db.transaction(async (tx) => {
    const { rows } = await sql`
      update merge_requests set auto_merge = false, merge_params = '{}', merge_user_id = null, updated_at = now()
      where id = ${row.id} and state = 'opened' and auto_merge returning id`.execute(tx)
    if (rows.length === 0) return false
    await tellOf(tx, row, userOf(actor).id, [told.mergeCanceled])
    const changes = { auto_merge: { from: true, to: false } }
    await announce(services, tx, row, actor, { action: 'auto_merge', changes })
    return true
  })
}

/** The newest pipeline of the head of a request still runs. */
export async function pipelineRuns(
  services: MergeRequestServices,
  actor: Actor,
  id: number,
): Promise<boolean> {
  const row = await findDetail(services.db.reader, id, actor)
  return isPipelineRunning(row?.head_pipeline?.status ?? null)
}

/**
 * Merges a request that was left to merge by itself, if nothing is in the way any more, in the name of who left it so
 * and as far as that one still may. A pipeline that failed keeps it waiting: jobs may be run again.
 */
export async function mergeIfReady(services: MergeRequestServices, id: number): Promise<void> {
  const row = await refreshMergeRequest(services, id, { by: null })
  if (row === undefined || !row.auto_merge || row.state !== 'opened' || row.merge_user === null) return
  const entered = await enterAs<ProjectSubject>(services.db, projectKind, row.merge_user.id, row.project_id)
  if (entered === undefined) return
  const { actor, subject: project } = entered
  const detail = await findDetail(services.db.writer, id, actor)
  if (detail === undefined || !mayMerge(actor, project, detail)) return
  const status = detail.head_pipeline?.status ?? null
  if (status !== null && status !== 'success' && status !== 'skipped' && status !== 'manual') return
  const checked = { ...detail, ...(await checkMergeability(services, project, detail)) }
  if (failingChecks(checked, circumstances(services)).length > 0) return
  try {
    await merge(services, actor, project, checked, checked.merge_params)
  } catch (error) {
    // Refused: the reason stands in the request, which waits on.
    if (!(error instanceof ApiError)) throw error
  }
}

/** Lets what was left to merge after a request try now that it is merged. */
export async function tryBlocked(db: Tx | Writer, id: number): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select m.id from merge_request_blocks b join merge_requests m on m.id = b.blocked_id
    where b.blocking_id = ${id} and m.state = 'opened' and m.auto_merge order by m.id`.execute(db)
  for (const waiting of rows) await enqueue(db, autoMergeTask, { id: waiting.id })
}

/** Ids of requests into a project that wait for anything. */
export async function waitingIn(
  { db }: Pick<MergeRequestServices, 'db'>,
  projectId: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select m.id from merge_requests m
    where m.project_id = ${projectId} and m.state = 'opened' and m.auto_merge order by m.id`.execute(
    db.reader,
  )
  return rows.map(({ id }) => id)
}

/** Ids of requests that wait for the pipelines of this commit. */
export async function waitingFor(
  { db }: Pick<MergeRequestServices, 'db'>,
  pipelineId: number,
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select m.id from ci_pipelines p
      join merge_requests m on m.state = 'opened' and m.auto_merge and m.head_sha = ${pushedSha('p')}
        and p.project_id in (m.project_id, m.source_project_id)
    where p.id = ${pipelineId} order by m.id`.execute(db.reader)
  return rows.map(({ id }) => id)
}
