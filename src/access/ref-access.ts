import { isAdministrator, type Actor } from './actor.ts'
import { may } from './decide.ts'
import { Role } from './levels.ts'
import type { GroupSubject, ProjectSubject } from './subjects.ts'

/** One entry of a rule for refs: everybody from a level on, one user, one deploy key, or the members of one group. */
export interface AccessEntry {
  readonly accessLevel: number | null
  readonly userId: number | null
  readonly deployKeyId: number | null
  readonly groupId: number | null
  /** Of a group: the caller is a direct member of it as a Developer at least, and the project is shared with it so far. */
  readonly throughGroup: boolean
}

const unnamed: AccessEntry = {
  accessLevel: null,
  userId: null,
  deployKeyId: null,
  groupId: null,
  throughGroup: false,
}

/** An entry, of which only what it names has to be said. */
export function entryFor(target: Partial<AccessEntry>): AccessEntry {
  return { ...unnamed, ...target }
}

/** Whether one of the entries lets the caller in (completions, 5.6). Level 0 lets nobody in, 60 administrators only. */
export function admits(entries: readonly AccessEntry[], actor: Actor, project: ProjectSubject): boolean {
  return entries.some((entry) => entryAdmits(entry, actor, project))
}

export function entryAdmits(entry: AccessEntry, actor: Actor, project: ProjectSubject): boolean {
  const { user, deployKey } = actor
  // A key is asked for by itself: what roles may is nothing to it.
  if (deployKey !== undefined) return deployKey.ownerMayWrite && entry.deployKeyId === deployKey.id
  if (user === null || entry.deployKeyId !== null) return false
  // Of any role: so Reporters merge where they are named. To push, who asks looks at `push_code` besides.
  if (entry.userId !== null) return entry.userId === user.id && project.role >= Role.guest
  if (entry.groupId !== null) return entry.throughGroup && may(actor, 'push_code', project)
  if (!passesLevel(entry.accessLevel, actor, project.role)) return false
  return isAdministrator(actor) || may(actor, 'push_code', project)
}

/** The same for rules of a group, whose entries are levels. */
export function admitsInGroup(
  entries: readonly AccessEntry[],
  actor: Actor,
  { role }: GroupSubject,
): boolean {
  return entries.some(({ accessLevel }) => passesLevel(accessLevel, actor, role))
}

function passesLevel(level: number | null, actor: Actor, role: number): boolean {
  if (level === null || level === Role.none) return false
  return isAdministrator(actor) || (level < Role.administrator && role >= level)
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
