import type { Status } from '../types.ts'

/** When a job ran; for one that still runs, until now. */
export interface Interval {
  /** Milliseconds of the same clock. */
  startedAt: number
  finishedAt: number
}

/** Whole seconds in which at least one job ran: the union of the intervals, gaps left out. */
export function runningSeconds(intervals: readonly Interval[]): number {
  const ordered = intervals.filter(({ startedAt, finishedAt }) => finishedAt > startedAt)
  ordered.sort((a, b) => a.startedAt - b.startedAt)
  let total = 0
  let until = -Infinity
  for (const { startedAt, finishedAt } of ordered) {
    total += Math.max(0, finishedAt - Math.max(startedAt, until))
    until = Math.max(until, finishedAt)
  }
  return Math.floor(total / 1000)
}

/** Whether a job's interval counts for the duration of its pipeline. */
export function countsForDuration(status: Status): boolean {
  return ['success', 'failed', 'running', 'canceled'].includes(status)
}

/** Mean of the jobs that have a coverage, with two decimals; null without any. */
export function meanCoverage(coverages: readonly (number | null)[]): string | null {
  const known = coverages.filter((coverage) => coverage !== null)
  if (known.length === 0) return null
  return (known.reduce((sum, coverage) => sum + coverage, 0) / known.length).toFixed(2)
}
