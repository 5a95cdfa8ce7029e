import { expect, test } from 'vitest'
import { chooseStorage } from './choose-storage.ts'

test.each([
  [{ default: 100 }, 0.999, 'default'],
  [{ default: 50, fast: 50 }, 0.49, 'default'],
  [{ default: 50, fast: 50 }, 0.5, 'fast'],
  [{ default: 0, fast: 1 }, 0, 'fast'],
  [{ default: 25, fast: 0, large: 75 }, 0.25, 'large'],
  [{}, 0.3, 'default'],
  [{ gone: 100 }, 0.3, 'default'],
])('%j at %d: %s', (weights, random, storage) => {
  expect(chooseStorage(weights, ['default', 'fast', 'large'], random)).toBe(storage)
})

test('as often as the weights say', () => {
  const counts = new Map<string, number>()
  for (let i = 0; i < 1000; i += 1) {
    const name = chooseStorage({ default: 10, fast: 30, large: 60 }, ['default', 'fast', 'large'], i / 1000)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  expect(Object.fromEntries(counts)).toEqual({ default: 100, fast: 300, large: 600 })
})
