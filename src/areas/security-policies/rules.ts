import type { PolicyRow } from './store.ts'

/** Whether a policy takes effect, and otherwise why not. `most`: so many of a project of policies do. */
export function standing(
  { enabled, problem, rank }: Pick<PolicyRow, 'enabled' | 'problem' | 'rank'>,
  most: number,
): { readonly active: boolean; readonly reason: string | null } {
  const reason = !enabled
    ? 'It is not enabled'
    : (problem ??
      (rank === null || rank > most ? `Only the first ${most} enabled policies take effect` : null))
  return { active: reason === null, reason }
}
