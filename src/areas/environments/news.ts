import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'

/** The news of a deployment that somebody told of, which no job made: event kind `deployment`. */
export interface DeploymentEvent {
  readonly deploymentId: number
  readonly status: string
}

export async function announce(
  { events }: { readonly events: Events },
  tx: Tx,
  { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
  payload: DeploymentEvent,
): Promise<void> {
  await events.announce(tx, 'deployment', { projectId: project.id, userId: userOf(actor).id, payload })
}
