import type { Tx } from '../../kernel/db/index.ts'
import { startDiscussion, type Reference, type Target } from './write.ts'

/** What a note of the service tells of (completions, 6.12); it is stored beside the note and not shown. */
export type SystemAction =
  | 'opened'
  | 'closed'
  | 'merged'
  | 'assignee'
  | 'reviewer'
  | 'title'
  | 'description'
  | 'milestone'
  | 'start_date_or_due_date'
  | 'time_tracking'
  | 'confidential'
  | 'visible'
  | 'locked'
  | 'unlocked'
  | 'cross_reference'
  | 'duplicate'
  | 'moved'
  | 'cloned'
  | 'relate'
  | 'unrelate'
  | 'task'
  | 'discussion'
  | 'outdated'
  | 'commit'
  | 'branch'
  | 'merge'
  | 'approved'
  | 'unapproved'
  | 'requested_changes'
  | 'cherry_pick'
  | 'tag'
  | 'status'
  | 'severity'
  | 'issue_type'
  | 'health_status'
  | 'weight'
  | 'epic'

export interface SystemNote {
  /** The noteable: `{ kind: 'Issue', id, projectId, namespaceId: null }`; of an epic the group is the namespace. */
  readonly on: Target
  readonly action: SystemAction
  readonly body: string
  /** Null: the service itself. */
  readonly authorId: number | null
  readonly createdAt?: Date
  /** What mentioned the noteable: who may not see that does not see the note. */
  readonly reference?: Reference
}

/** Actions whose notes tell of code. */
const ofCode: ReadonlySet<SystemAction> = new Set(['branch'])

/**
 * Writes notes of the service in the transaction of the change that they tell of. From here on the noteables are held
 * until the transaction ends, in the order given.
 */
export async function addSystemNotes(tx: Tx, notes: readonly SystemNote[]): Promise<void> {
  for (const { on, action, body, authorId, createdAt, reference } of notes) {
    await startDiscussion(tx, on, {
      action,
      body,
      authorId,
      individual: true,
      createdAt,
      needsCode: on.kind === 'Issue' && ofCode.has(action),
      ...(reference !== undefined && { reference }),
    })
  }
}
