import { describe, expect, test } from 'vitest'
import { cronFaults, lastRun, nextRun } from './cron.ts'

const next = (cron: string, zone: string, after: string): string | undefined =>
  nextRun(cron, zone, new Date(after))?.toISOString()

describe('the next run', () => {
  test.each([
    ['0 1 * * *', 'UTC', '2026-01-01T01:00:00Z', '2026-01-02T01:00:00.000Z'],
    ['0 1 * * *', 'UTC', '2026-01-01T00:59:59Z', '2026-01-01T01:00:00.000Z'],
    ['*/15 9-17 * * 1-5', 'UTC', '2026-01-02T17:50:00Z', '2026-01-05T09:00:00.000Z'],
    ['0 1 * * 5', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T01:00:00.000Z'],
    ['30 4 1,15 * *', 'UTC', '2026-01-02T00:00:00Z', '2026-01-15T04:30:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['@daily', 'UTC', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00.000Z'],
    ['0 9 * * *', 'Asia/Tokyo', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00.000Z'],
    ['0 9 * * *', 'Tokyo', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00.000Z'],
    ['0 9 * * *', 'Pacific Time (US & Canada)', '2026-01-01T00:00:00Z', '2026-01-01T17:00:00.000Z'],
    ['0 9 * * *', 'Pacific Time (US & Canada)', '2026-07-01T00:00:00Z', '2026-07-01T16:00:00.000Z'],
    // The hour that is left out when summer begins; the run comes when it is over.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    // The hour that comes twice when it ends has one run.
    ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00.000Z'],
  ])('%s in %s after %s', (cron, zone, after, expected) => expect(next(cron, zone, after)).toBe(expected))
})

describe('the last run', () => {
  test.each([
    ['0 23 * * 5', 'UTC', '2026-01-05T00:00:00Z', '2026-01-02T23:00:00.000Z'],
    ['0 23 * * 5', 'Asia/Tokyo', '2026-01-05T00:00:00Z', '2026-01-02T14:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0 0 31 2 *', 'UTC', '2026-01-01T00:00:00Z', undefined],
    ['x', 'UTC', '2026-01-01T00:00:00Z', undefined],
  ])('%s in %s before %s', (cron, zone, before, expected) =>
    expect(lastRun(cron, zone, new Date(before))?.toISOString()).toBe(expected),
  )
})

describe('what is wrong', () => {
  const faulty = ['syntax is invalid']
  test.each([
    ['* * * * *', 'UTC', {}],
    ['* * * * *', 'Berlin', {}],
    ['* * * * *', "Nuku'alofa", {}],
    ['x', 'UTC', { cron: faulty }],
    ['', 'UTC', { cron: faulty }],
    ['* * * *', 'UTC', { cron: faulty }],
    ['* * * * * *', 'UTC', { cron: faulty }],
    ['60 * * * *', 'UTC', { cron: faulty }],
    ['0 0 31 2 *', 'UTC', { cron: faulty }],
    ['2026-01-01T00:00:00', 'UTC', { cron: faulty }],
    ['* * * * *', 'Mars', { cron_timezone: faulty }],
    ['* * * * *', '+01:00', { cron_timezone: faulty }],
    ['* * * * *', '', { cron_timezone: faulty }],
    ['x', 'Mars', { cron: faulty, cron_timezone: faulty }],
  ])('%j in %j', (cron, zone, faults) => expect(cronFaults({ cron }, zone)).toEqual(faults))
})
