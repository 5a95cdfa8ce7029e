import type { Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import { addSystemNotes } from './system.ts'
import { resolveNotes, type Resolved, type Target } from './write.ts'

/** The news that the last open thread of a merge request was resolved: event kind `threads_resolved`. */
export interface ThreadsResolvedEvent {
  readonly mergeRequestId: number
}

/** Resolves threads or notes of a merge request, or opens them again, and tells when nothing of it is open any more. */
export async function resolveThreads(
  events: Events,
  tx: Tx,
  on: { readonly target: Target; readonly noteableId: number },
  which: Resolved,
  change: { readonly resolved: boolean; readonly by: number },
): Promise<void> {
  const { target, noteableId } = on
  const { last } = await resolveNotes(tx, noteableId, which, change)
  if (!last) return
  await addSystemNotes(tx, [
    { on: target, action: 'discussion', body: 'resolved all threads', authorId: change.by },
  ])
  const payload: ThreadsResolvedEvent = { mergeRequestId: target.id! }
  await events.announce(tx, 'threads_resolved', { projectId: target.projectId, userId: change.by, payload })
}
