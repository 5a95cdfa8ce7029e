import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Turns at a rate, evenly, so many a second. Each waits until it is due and is that time: who takes it late, since all
 * were busy, was late from then on.
 */
export function pace(rate: number): () => Promise<number> {
  const begin = performance.now()
  let turns = 0
  return async () => {
    const due = begin + (turns++ * 1000) / rate
    const early = due - performance.now()
    if (early > 0) await sleep(early)
    return due
  }
}
