import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchesWildcard } from './wildcard.ts'

test.each([
  ['main', 'main', true],
  ['main', 'Main', false],
  ['*', '', true],
  ['*', 'a/b', true],
  ['release/*', 'release/1/2', true],
  ['release/*', 'release', false],
  ['*-stable', '1-0-stable', true],
  ['*-stable', '-stable', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a*b*c', 'a--b--c', true],
  ['a*b*c', 'a--c--b', false],
  ['a.c', 'abc', false],
  ['[ab]', 'a', false],
])('%s on %s: %s', (pattern, text, expected) => {
  expect(matchesWildcard(pattern, text)).toBe(expected)
})

test('agrees with the regular expression that says the same', () => {
  const short = fc.string({ unit: fc.constantFrom('a', 'b', '*', '/', '.'), maxLength: 8 })
  fc.assert(
    fc.property(short, short, (pattern, text) => {
      const source = pattern
        .split('*')
        .map((part) => RegExp.escape(part))
        .join('[^]*')
      expect(matchesWildcard(pattern, text)).toBe(new RegExp(`^${source}$`).test(text))
    }),
  )
})
