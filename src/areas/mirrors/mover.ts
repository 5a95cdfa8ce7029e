import { enterById, may, project as projectKind, type ProjectSubject } from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { RefMover } from './fetch-refs.ts'
import { MirrorProblem } from './problem.ts'

/** In whose name refs are brought: what he may do is looked up anew each time. `otherwise`: what is told where he may not. */
export async function moverOf(
  db: Database,
  { project_id, user_id }: { readonly project_id: number; readonly user_id: number | null },
  ability: 'admin_mirror' | 'push_code',
  otherwise: string,
): Promise<Pick<RefMover, 'actor' | 'project'>> {
  const lookup = { id: String(project_id), secretDigest: undefined }
  const { actor, subject } =
    user_id === null ? {} : await enterById<ProjectSubject>(db, projectKind, user_id, lookup)
  if (actor?.user?.state !== 'active' || subject === undefined || !may(actor, ability, subject)) {
    throw new MirrorProblem(otherwise)
  }
  return { actor, project: subject }
}
