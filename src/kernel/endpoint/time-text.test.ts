import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isDayText, parseInstant, timestampText } from './time-text.ts'

describe('moments as text', () => {
  test.each<[string, string | undefined]>([
    ['2026-02-03T09:41:07.512Z', '2026-02-03T09:41:07.512Z'],
    ['2026-02-03T09:41:07Z', '2026-02-03T09:41:07.000Z'],
    ['2026-02-03T09:41Z', '2026-02-03T09:41:00.000Z'],
    ['2026-02-03t09:41:07z', '2026-02-03T09:41:07.000Z'],
    ['2026-02-03T09', '2026-02-03T09:00:00.000Z'],
    ['2026-02-03T09:41:07.512987654Z', '2026-02-03T09:41:07.512Z'],
    ['2026-02-03T09:41:07,5Z', '2026-02-03T09:41:07.500Z'],
    ['2026-02-03T01:41:07+02:00', '2026-02-02T23:41:07.000Z'],
    ['2026-02-03T09:41:07-0530', '2026-02-03T15:11:07.000Z'],
    ['2026-02-03 09:41:07.512345+00', '2026-02-03T09:41:07.512Z'],
    ['20260203T094107Z', '2026-02-03T09:41:07.000Z'],
    ['20260203', '2026-02-03T00:00:00.000Z'],
    ['2026-02-03', '2026-02-03T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['0099-01-01', '0099-01-01T00:00:00.000Z'],
    ['0001-01-01T00:00+01:00', undefined],
    ['9999-12-31T23:59:59-01:00', undefined],
    ['0000-01-01', undefined],
    ['2026-02-29', undefined],
    ['2026-13-01', undefined],
    ['2026-00-01', undefined],
    ['2026-01-00', undefined],
    ['2026-02-03T24:00', undefined],
    ['2026-02-03T09:60', undefined],
    ['2026-02-03T09:41:60Z', undefined],
    ['2026-02-03T', undefined],
    ['2026-0203', undefined],
    ['3 Feb 2026', undefined],
    ['1770111667', undefined],
    ['', undefined],
  ])('%s', (text, expected) => expect(parseInstant(text)?.toISOString()).toBe(expected))

  test.each<[Date | string, string | null]>([
    [new Date('2026-02-03T09:41:07.012Z'), '2026-02-03T09:41:07.012Z'],
    [new Date('0099-12-31T00:00:00Z'), '0099-12-31T00:00:00.000Z'],
    [new Date(NaN), null],
    ['2026-02-03 09:41:07+00', '2026-02-03T09:41:07.000Z'],
    ['2026-02-03 09:41:07.5+00:00', '2026-02-03T09:41:07.500Z'],
    ['2026-02-03T09:41:07.512345+02:00', '2026-02-03T07:41:07.512Z'],
    ['infinity', null],
  ])('%s is written %s', (moment, expected) => expect(timestampText(moment)).toBe(expected))

  test('agrees with the engine on every date', () => {
    const dates = fc.date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    })
    fc.assert(
      fc.property(dates, (date) => {
        expect(timestampText(date)).toBe(date.toISOString())
        expect(parseInstant(date.toISOString())).toEqual(date)
        expect(isDayText(date.toISOString().slice(0, 10))).toBe(true)
      }),
    )
  })
})
