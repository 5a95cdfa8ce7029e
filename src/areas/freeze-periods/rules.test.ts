import { describe, expect, test } from 'vitest'
import { isFrozen } from './rules.ts'

const weekend = { freeze_start: '0 23 * * 5', freeze_end: '0 7 * * 1', cron_timezone: 'UTC' }
const night = { freeze_start: '0 22 * * *', freeze_end: '0 6 * * *', cron_timezone: 'Asia/Tokyo' }

describe('a freeze', () => {
  test.each([
    ['before a weekend', weekend, '2026-01-02T22:59:59.999Z', false],
    ['as it begins', weekend, '2026-01-02T23:00:00.000Z', true],
    ['within it', weekend, '2026-01-04T12:00:00Z', true],
    ['just before it ends', weekend, '2026-01-05T06:59:59.999Z', true],
    ['as it ends', weekend, '2026-01-05T07:00:00.000Z', false],
    ['in the week', weekend, '2026-01-07T12:00:00Z', false],
    ['at night elsewhere', night, '2026-01-07T14:00:00Z', true],
    ['by day elsewhere', night, '2026-01-07T22:00:00Z', false],
    [
      'that begins again before it ends',
      { ...weekend, freeze_start: '0 * * * *' },
      '2026-01-07T12:30:00Z',
      true,
    ],
    ['that never begins', { ...weekend, freeze_start: '0 0 31 2 *' }, '2026-01-04T12:00:00Z', false],
  ])('%s', (_, period, now, expected) => expect(isFrozen([period], new Date(now))).toBe(expected))

  test('is on while one of several periods is', () => {
    const now = new Date('2026-01-04T12:00:00Z')
    expect(isFrozen([night, weekend], now)).toBe(true)
    expect(isFrozen([night], now)).toBe(false)
    expect(isFrozen([], now)).toBe(false)
  })
})
