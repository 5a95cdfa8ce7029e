import { userOf, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Tx } from '../../kernel/db/index.ts'
import type { Events } from '../../tasks/index.ts'
import type { ReleaseRow } from './entities.ts'

/** The news of a release as it was in this moment: event kind `release`. */
export interface ReleaseEvent {
  readonly action: 'create' | 'update' | 'delete'
  readonly release: Pick<
    ReleaseRow,
    'id' | 'tag' | 'name' | 'description' | 'sha' | 'created_at' | 'released_at' | 'links'
  >
}

export async function announce(
  { events }: { readonly events: Events },
  tx: Tx,
  { actor, project }: { readonly actor: Actor; readonly project: ProjectSubject },
  action: ReleaseEvent['action'],
  row: ReleaseRow,
): Promise<void> {
  const { id, tag, name, description, sha, created_at, released_at, links } = row
  const payload: ReleaseEvent = {
    action,
    release: { id, tag, name, description, sha, created_at, released_at, links },
  }
  await events.announce(tx, 'release', { projectId: project.id, userId: userOf(actor).id, payload })
}
