import { expect, test } from 'vitest'
import { cutTo, isLonger } from './characters.ts'

test.each([
  ['', 0, false, ''],
  ['abc', 3, false, 'abc'],
  ['abcd', 3, true, 'abc'],
  ['😀😀😀', 3, false, '😀😀😀'],
  ['😀😀😀😀', 3, true, '😀😀😀'],
  ['ab😀c', 3, true, 'ab😀'],
  ['a😀😀😀', 3, true, 'a😀😀'],
])('%j to %i characters', (text, limit, longer, cut) => {
  expect(isLonger(text, limit)).toBe(longer)
  expect(cutTo(text, limit)).toBe(cut)
})
