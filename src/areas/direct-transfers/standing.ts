import {
  accountProblem,
  enterAs,
  group,
  instance,
  type Actor,
  type GroupSubject,
  type InstanceSubject,
  type ProjectSubject,
} from '../../access/index.ts'
import * as groups from '../group-archives/index.ts'
import * as projects from '../project-archives/index.ts'
import { TransferFault } from './faults.ts'
import type { TransferRoom } from './services.ts'
import type { Step } from './step-store.ts'

const notAllowed = () =>
  new TransferFault('Who asked for the transfer may not make it any more.', { phase: 'loader', fatal: true })

/** Who asked for the transfer, as he is now. */
export async function importerOf({ db }: TransferRoom, { userId }: Step): Promise<Actor> {
  const entered = await enterAs<InstanceSubject>(db, instance, userId, 0)
  const user = entered?.actor.user
  if (entered === undefined || !user || accountProblem(user) !== undefined) throw notAllowed()
  return entered.actor
}

export interface Standing {
  readonly actor: Actor
  readonly subject: ProjectSubject | GroupSubject
}

export async function standingInProject(
  { db }: TransferRoom,
  { userId, projectId }: Step,
): Promise<{ readonly actor: Actor; readonly subject: ProjectSubject }> {
  const standing = projectId === null ? undefined : await projects.standIn(db, userId, projectId)
  if (standing === undefined) throw notAllowed()
  return standing
}

export async function standingInGroup(
  { db }: TransferRoom,
  { userId, namespaceId }: Step,
): Promise<{ readonly actor: Actor; readonly subject: GroupSubject }> {
  const actor = namespaceId === null ? undefined : await groups.standIn(db, userId, namespaceId)
  const entered =
    actor === undefined ? undefined : await enterAs<GroupSubject>(db, group, userId, namespaceId!)
  if (entered === undefined) throw notAllowed()
  return entered
}
