import { findProjects } from '../projects.ts'
import type { MergeRequestServices } from '../services.ts'
import { pointRequestRef } from '../versions/refs.ts'
import { refreshMergeRequest } from '../versions/refresh.ts'
import { checkMergeability } from './check.ts'
import { makeMergeRef } from './merge-ref.ts'

/**
 * Brings a request up to date and finds out whether it merges; if so its merge can be fetched as
 * `refs/merge-requests/N/merge`. `by`: who pushed, if somebody did.
 */
export async function lookAt(services: MergeRequestServices, id: number, by: number | null): Promise<void> {
  const row = await refreshMergeRequest(services, id, { by })
  if (row === undefined || row.state !== 'opened' || row.source_gone) return
  const target = (await findProjects(services.db.reader, [row.project_id])).get(row.project_id)
  if (target === undefined) return
  const { merge_status } = await checkMergeability(services, target, row)
  if (merge_status === 'can_be_merged') await makeMergeRef(services, target, row)
  else await pointRequestRef(services, target, row.iid, 'merge', undefined)
}
