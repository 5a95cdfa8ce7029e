import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'
import { askedDelay, retrying } from './retry.ts'

test.each([
  ['1h30m', 5400],
  ['45s', 45],
  ['90', 90],
  ['1.5m', 90],
  ['300ms', 0.3],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('duration %s', (text, seconds) => {
  expect(parseDuration(text)).toBe(seconds)
})

test('durations as text', () => {
  expect([5, 65, 3600, 3661].map(formatDuration)).toEqual(['5s', '1m5s', '1h0m0s', '1h1m1s'])
})

const answer = (headers: Record<string, string>, status = 200) => ({
  status,
  text: '',
  header: (name: string) => headers[name],
})

test('the pause a server asks for', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  expect(askedDelay(answer({ 'retry-after': '7' }), now)).toBe(7000)
  expect(askedDelay(answer({ 'retry-after': 'Thu, 01 Jan 2026 00:00:05 GMT' }), now)).toBe(5000)
  const both = { 'retry-after': '7', 'ratelimit-resettime': 'Thu, 01 Jan 2026 00:00:02 GMT' }
  expect(askedDelay(answer(both), now)).toBe(2000)
  expect(askedDelay(answer({ 'retry-after': '999999' }), now)).toBe(15 * 60_000)
  expect(askedDelay(answer({}), now)).toBeUndefined()
})

test('only what may pass is repeated', async () => {
  const statuses = async (given: (number | Error)[]) => {
    const left = [...given]
    const last = await retrying(
      async () => {
        const next = left.shift()!
        if (next instanceof Error) throw next
        return answer({ 'retry-after': '0' }, next)
      },
      { attempts: 3 },
    ).catch((error: unknown) => error)
    return [left.length, last instanceof Error ? last.message : (last as { status: number }).status]
  }

  expect(await statuses([503, 429, 201])).toEqual([0, 201])
  expect(await statuses([404, 201])).toEqual([1, 404])
  expect(await statuses([500, 500, 500, 201])).toEqual([1, 500])
})
