import { admits, type AccessEntry, type Actor, type ProjectSubject } from '../../access/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'

export function isUnprotect({ action }: { action: string }): boolean {
  return action === 'unprotect'
}

/** Who changes or lifts a rule must be among those who may; a rule without such entries asks for no more. */
export function requireUnprotect(
  entries: readonly AccessEntry[],
  actor: Actor,
  project: ProjectSubject,
): void {
  if (entries.length > 0 && !admits(entries, actor, project)) throw forbidden()
}
