import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves after `milliseconds`, or at once when the signal is aborted; never throws. */
export async function wait(milliseconds: number, signal?: AbortSignal) {
  if (signal?.aborted === true || milliseconds <= 0) return
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
}

/** Resolves when the signal is aborted; `off` forgets it. */
export function aborted(signal: AbortSignal): { promise: Promise<void>; off: () => void } {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const listener = () => resolve(undefined)
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
  return { promise, off: () => signal.removeEventListener('abort', listener) }
}

/** Milliseconds before the next attempt: from `first` doubling to `most`, give or take a quarter. */
export function backoff(attempt: number, first = 500, most = 30_000) {
  return Math.min(most, first * 2 ** Math.min(attempt, 20)) * (0.75 + Math.random() / 2)
}
