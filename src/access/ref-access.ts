import { isAdministrator, type Actor } from './actor.ts'
import { may } from './decide.ts'
import { Role } from './levels.ts'
import type { ProjectSubject } from './subjects.ts'

/** One entry of a rule for refs: everybody from a level on, one user, or one deploy key. */
export interface AccessEntry {
  readonly accessLevel: number | null
  readonly userId: number | null
  readonly deployKeyId: number | null
}

/** Whether one of the entries lets the caller in (completions, 5.6). Level 0 lets nobody in, 60 administrators only. */
export function admits(entries: readonly AccessEntry[], actor: Actor, project: ProjectSubject): boolean {
  const { user, deployKey } = actor
  // A key is asked for by itself: what roles may is nothing to it.
  if (deployKey !== undefined) {
    return deployKey.ownerMayWrite && entries.some(({ deployKeyId }) => deployKeyId === deployKey.id)
  }
  if (user === null) return false
  return entries.some(({ accessLevel, userId, deployKeyId }) => {
    if (deployKeyId !== null) return false
    if (userId !== null) return userId === user.id && project.role >= Role.developer
    if (accessLevel === null || accessLevel === Role.none) return false
    if (isAdministrator(actor)) return true
    return accessLevel < Role.administrator && project.role >= accessLevel && may(actor, 'push_code', project)
  })
}

/** Whether the caller may make the first push into an empty repository (completions, 5.7). */
export function mayStartRepository(actor: Actor, project: ProjectSubject, developersToo: boolean): boolean {
  if (isAdministrator(actor) || actor.deployKey?.canPush === true) return true
  return project.role >= (developersToo ? Role.developer : Role.maintainer)
}

/** Whether one of the levels lets Developers in. */
export function opensToDevelopers(levels: readonly (number | null)[]): boolean {
  return levels.some((level) => level !== null && level > Role.none && level <= Role.developer)
}
