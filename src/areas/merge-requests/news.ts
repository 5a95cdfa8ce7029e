import type { Actor } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'

/**
 * The news of a merge request: event kind `merge_request`. Comments of the service, to-dos, webhooks and activity are
 * made of it.
 */
export interface MergeRequestEvent {
  readonly mergeRequestId: number
  readonly iid: number
  readonly action:
    | 'open'
    | 'update'
    | 'close'
    | 'reopen'
    | 'merge'
    | 'approved'
    | 'unapproved'
    | 'push'
    | 'retarget'
    | 'auto_merge'
  /** What an update made of what: titles, people by their ids, branches. */
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
  /** Of a push: the head before, and how many commits are new. */
  readonly oldHead?: string
  readonly commits?: number
}

export async function announce(
  { events }: { events: Events },
  tx: Tx,
  request: { readonly id: number; readonly iid: number; readonly project_id: number },
  by: Actor | number | null,
  news: Omit<MergeRequestEvent, 'mergeRequestId' | 'iid' | 'changes'> &
    Partial<Pick<MergeRequestEvent, 'changes'>>,
): Promise<void> {
  const payload: MergeRequestEvent = { mergeRequestId: request.id, iid: request.iid, changes: {}, ...news }
  const userId = typeof by === 'number' || by === null ? by : (by.user?.id ?? null)
  await events.announce(tx, 'merge_request', { projectId: request.project_id, userId, payload })
}
