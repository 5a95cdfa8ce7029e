import {
  accountProblem,
  decide,
  enterAs,
  project,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Database } from '../../kernel/db/index.ts'

/** Who asked for work that goes on after the request, and the project, as they are now; undefined: he may no longer. */
export async function standIn(
  db: Database,
  userId: number | null,
  projectId: number,
): Promise<{ readonly actor: Actor; readonly subject: ProjectSubject } | undefined> {
  const entered = userId === null ? undefined : await enterAs<ProjectSubject>(db, project, userId, projectId)
  const user = entered?.actor.user
  if (entered === undefined || !user || accountProblem(user) !== undefined) return undefined
  return decide(entered.actor, 'admin_project', entered.subject, true).allowed ? entered : undefined
}
