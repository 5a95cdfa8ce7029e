import { findGroup, isAdministrator, may, type Actor, type ProjectSubject } from '../../access/index.ts'
import type { Reader } from '../../kernel/db/index.ts'
import type { StoredVariable } from '../pipelines/index.ts'

/** Whether somebody may see the values of the place that keeps a variable. */
export type Sees = (variable: StoredVariable) => boolean

/** Decided by the places themselves: the project, each of its groups, the instance. */
export async function visiblePlaces(
  db: Reader,
  actor: Actor,
  project: ProjectSubject,
  variables: readonly StoredVariable[],
): Promise<Sees> {
  const groups = new Map<number, boolean>()
  for (const { place } of variables) {
    const id = place?.groupId ?? null
    if (id === null || groups.has(id)) continue
    const group = await findGroup(db, actor, id)
    groups.set(id, group !== undefined && may(actor, 'read_cicd_variables', group))
  }
  const ofProject = may(actor, 'read_cicd_variables', project)
  const ofInstance = isAdministrator(actor)
  return ({ place }) => {
    if (place === undefined) return true
    if (place.projectId !== null) return ofProject
    return place.groupId === null ? ofInstance : groups.get(place.groupId) === true
  }
}
