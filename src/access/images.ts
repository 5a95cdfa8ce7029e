import { isAdministrator, type Actor } from './actor.ts'
import { Role } from './levels.ts'
import type { ProjectSubject } from './subjects.ts'

/** Whether the caller's role here passes a rule's level; 60 is passed by administrators only, who pass every one. */
export function mayPassLevel(actor: Actor, { role }: Pick<ProjectSubject, 'role'>, level: number): boolean {
  return isAdministrator(actor) || (level < Role.administrator && role >= level)
}
