import { userOf, type Actor } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { MilestoneRow } from './entities.ts'

/** The news of a milestone as it was in this moment: event kind `milestone`. */
export interface MilestoneEvent {
  readonly action: 'create' | 'close' | 'reopen' | 'delete'
  /** Whose it is where it is of no project. */
  readonly groupId: number | null
  readonly milestone: MilestoneRow
}

export async function announce(
  events: Events,
  tx: Tx,
  actor: Actor,
  action: MilestoneEvent['action'],
  milestone: MilestoneRow,
): Promise<void> {
  const { project_id: projectId, namespace_id: groupId } = milestone
  const payload: MilestoneEvent = { action, groupId, milestone }
  await events.announce(tx, 'milestone', { projectId, userId: userOf(actor).id, payload })
}
