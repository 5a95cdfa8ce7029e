import { admits, type Actor, type ProjectSubject } from '../../access/index.ts'
import { forbidden } from '../../kernel/errors/index.ts'
import type { NewEntry } from './store.ts'

export function isUnprotect({ action }: { action: string }): boolean {
  return action === 'unprotect'
}

/** Who changes or lifts a rule must be among those who may; a rule without such entries asks for no more. */
export function requireUnprotect(entries: readonly NewEntry[], actor: Actor, project: ProjectSubject): void {
  if (entries.length > 0 && !admits(entries, actor, project)) throw forbidden()
}
