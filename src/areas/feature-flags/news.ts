import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { FlagRow } from './entities.ts'

/** A flag was switched on or off: event kind `feature_flag`. */
export interface FlagEvent {
  readonly flag: Pick<FlagRow, 'id' | 'name' | 'description' | 'active'>
}

export async function announce(
  { events }: { readonly events: Events },
  tx: Tx,
  { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
  { id, name, description, active }: FlagRow,
): Promise<void> {
  const payload: FlagEvent = { flag: { id, name, description, active } }
  await events.announce(tx, 'feature_flag', { projectId: project.id, userId: userOf(actor).id, payload })
}
