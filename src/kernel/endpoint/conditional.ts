import { preconditionFailed } from '../errors/index.ts'
import type { RequestFacts } from './endpoint.ts'

/** For the `refuses` of a declaration whose handler calls `requireUnmodified`. */
export const whenChanged = { 412: 'Changed since the date in If-Unmodified-Since' } as const

/**
 * Refuses with 412 when the record was changed after the caller's `If-Unmodified-Since`; a date that is none is ignored.
 * Called in the transaction that deletes, it may be told by what was deleted.
 */
export function requireUnmodified(
  { headers }: Pick<RequestFacts, 'headers'>,
  updatedAt: Date | string,
): void {
  const since = Date.parse(headers['if-unmodified-since'] ?? '')
  // HTTP dates have whole seconds.
  if (!Number.isNaN(since) && Math.floor(new Date(updatedAt).getTime() / 1000) * 1000 > since)
    throw preconditionFailed()
}
