import { preconditionFailed } from '../errors/index.ts'
import type { RequestFacts } from './endpoint.ts'

/** Refuses with 412 when the record was changed after the caller's `If-Unmodified-Since`; a date that is none is ignored. */
export function requireUnmodified({ headers }: RequestFacts, updatedAt: Date): void {
  const since = Date.parse(headers['if-unmodified-since'] ?? '')
  // HTTP dates have whole seconds.
  if (!Number.isNaN(since) && Math.floor(updatedAt.getTime() / 1000) * 1000 > since)
    throw preconditionFailed()
}
