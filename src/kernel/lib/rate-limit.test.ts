import { expect, test } from 'vitest'
import { RateLimit } from './rate-limit.ts'

test('each key has its own count, which a new period empties', () => {
  const limit = new RateLimit(2, 60)
  limit.use('a', 0)
  limit.use('a', 1)
  limit.use('b', 2)
  expect(() => limit.use('a', 3)).toThrow(/too many times/)
  expect(() => limit.use('a', 60_001)).not.toThrow()
})
