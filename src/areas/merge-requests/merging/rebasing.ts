import type { MergeRequestRow } from '../rows.ts'

/** Milliseconds after which a rebase is taken for one that ended without a word. */
const longestRebase = 10 * 60_000

export function isRebasing(
  { rebase_began_at: began }: Pick<MergeRequestRow, 'rebase_began_at'>,
  now: Date,
): boolean {
  return began !== null && now.getTime() - Date.parse(began) < longestRebase
}
