import type { Choice } from './form.ts'

/** The roles that members are given, by their levels. */
export const roles: readonly Choice[] = [
  ['10', 'Guest'],
  ['15', 'Planner'],
  ['20', 'Reporter'],
  ['30', 'Developer'],
  ['40', 'Maintainer'],
  ['50', 'Owner'],
]

export function roleName(level: number): string {
  return roles.find(([value]) => value === String(level))?.[1] ?? `Level ${level}`
}
