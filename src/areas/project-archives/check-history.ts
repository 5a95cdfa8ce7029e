import type { HistoryRecord } from './format.ts'
import { longestTitle, reader, RecordFault, type Raw } from './record-reader.ts'

const { objectOf, listOf, textOrNull, oneOf, wholeOrNull, time } = reader

const longestSummary = 1024 * 1024
const largestInt = 2_147_483_647
const actions = ['add', 'remove'] as const

/** A record without one has none. */
export function checkHistory(value: unknown): HistoryRecord {
  const raw = value === undefined || value === null ? {} : objectOf(value)
  const list = <T extends object>(name: string, check: (entry: Raw) => T) =>
    listOf(raw[name], name, (each) => {
      const entry = objectOf(each)
      return {
        ...check(entry),
        user: textOrNull(entry, 'user', longestTitle),
        created_at: time(entry, 'created_at'),
      }
    })
  const times = list('times', (entry) => ({
    seconds: secondsOf(entry),
    summary: textOrNull(entry, 'summary', longestSummary),
    spent_at: time(entry, 'spent_at'),
  }))
  const spent = spentIn({ times })
  if (spent < 0 || spent > largestInt) throw new RecordFault('times are no time')
  return {
    states: list('states', (entry) => ({
      state: oneOf(entry, 'state', ['opened', 'reopened', 'closed', 'merged']),
    })),
    milestones: list('milestones', (entry) => ({
      action: oneOf(entry, 'action', actions),
      state: oneOf(entry, 'state', ['opened', 'closed', 'locked', 'merged']),
      milestone: wholeOrNull(entry, 'milestone', 1),
    })),
    labels: list('labels', (entry) => ({
      action: oneOf(entry, 'action', actions),
      label: textOrNull(entry, 'label', longestTitle),
    })),
    times,
  }
}

/** Seconds that were spent in all. */
export function spentIn({ times }: Pick<HistoryRecord, 'times'>): number {
  return times.reduce((sum, { seconds }) => sum + seconds, 0)
}

/** Time that was taken back is less than none. */
function secondsOf({ seconds }: Raw): number {
  if (typeof seconds === 'number' && Number.isInteger(seconds) && Math.abs(seconds) <= largestInt)
    return seconds
  throw new RecordFault('seconds is no fit number')
}
