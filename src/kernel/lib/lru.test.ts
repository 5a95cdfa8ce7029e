import { expect, test } from 'vitest'
import { LruMap } from './lru.ts'

test('forgets what was not asked for the longest', () => {
  const forgotten: string[] = []
  const map = new LruMap<string, number>(2, (_value, key) => forgotten.push(key))
  map.set('a', 1)
  map.set('b', 2)
  map.get('a')
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3])
  expect(forgotten).toEqual(['b'])
})

test('forgets the oldest when all were asked for', () => {
  const map = new LruMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  for (const key of ['b', 'a']) map.get(key)
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c'), map.weight]).toEqual([undefined, 2, 3, 2])
})

test('counts weights, also when an entry is replaced', () => {
  const map = new LruMap<string, number>(10)
  map.set('a', 1, 4)
  map.set('a', 2, 6)
  map.set('b', 3, 4)
  expect(map.weight).toBe(10)
  map.set('c', 4, 1)
  expect([map.get('a'), map.weight]).toEqual([undefined, 5])
})

test('keeps an entry that is heavier than the limit until the next one comes', () => {
  const map = new LruMap<string, number>(10)
  map.set('heavy', 1, 50)
  expect(map.get('heavy')).toBe(1)
  map.set('b', 2, 1)
  expect([map.get('heavy'), map.size]).toEqual([undefined, 1])
})
