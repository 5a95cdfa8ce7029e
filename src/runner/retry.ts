import type { Answer } from './api.ts'
import { backoff, wait } from './wait.ts'

export function isTransient(status: number) {
  return [408, 429, 500, 502, 503, 504].includes(status) || status >= 512
}

const longest = 15 * 60_000

/** Milliseconds the server asks to wait, or undefined; never more than a quarter of an hour. */
export function askedDelay(answer: Pick<Answer, 'header'>, now = Date.now()): number | undefined {
  const reset = Date.parse(answer.header('ratelimit-resettime') ?? '')
  if (!Number.isNaN(reset)) return bounded(reset - now)
  const after = answer.header('retry-after')
  if (after === undefined) return undefined
  const seconds = Number(after)
  const delay = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - now
  return Number.isNaN(delay) ? undefined : bounded(delay)
}

function bounded(delay: number) {
  return Math.min(longest, Math.max(0, delay))
}

export interface RetryOptions {
  /** Attempts altogether; 6 by default: the first and five more. */
  attempts?: number
  /** No attempt starts after this many milliseconds. */
  within?: number
  signal?: AbortSignal
  /** Further statuses to repeat. */
  also?: number[]
  onRetry?: (why: string) => void
}

/** Repeats what may succeed later: no answer, or a status that says so. The last failure is thrown or returned. */
export async function retrying<T extends Answer>(
  send: () => Promise<T>,
  options: RetryOptions = {},
): Promise<T> {
  const { attempts = 6, within = Infinity, signal, also = [] } = options
  const begin = Date.now()
  for (let attempt = 0; ; attempt++) {
    const left = begin + within - Date.now()
    const last = attempt + 1 >= attempts || left <= 0
    let delay = backoff(attempt)
    try {
      const answer = await send()
      if (last || signal?.aborted === true) return answer
      if (!isTransient(answer.status) && !also.includes(answer.status)) return answer
      delay = askedDelay(answer) ?? delay
      options.onRetry?.(`status ${answer.status}`)
    } catch (error) {
      if (last || signal?.aborted === true) throw error
      options.onRetry?.(error instanceof Error ? error.message : String(error))
    }
    await wait(Math.min(delay, Math.max(left, 0)), signal)
    signal?.throwIfAborted()
  }
}
