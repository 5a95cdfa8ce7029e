import { expect, test } from 'vitest'
import { parseColor, textColor } from './colors.ts'
import { lastOfEachScope, scopeOf } from './rules.ts'

test.each([
  ['bug', undefined],
  ['priority::high', 'priority'],
  ['a::b::c', 'a::b'],
  ['::high', undefined],
  ['high::', undefined],
  ['a::b::', undefined],
])('the scope of %s is %s', (title, scope) => expect(scopeOf(title)).toBe(scope))

test('the last label of a scope wins, the others stay', () => {
  const labels = ['p::1', 'bug', 'p::2', 'p::q::1', 'p::3', 'bug 2'].map((title) => ({ title }))
  expect(lastOfEachScope(labels).map(({ title }) => title)).toEqual(['bug', 'p::q::1', 'p::3', 'bug 2'])
})

test.each([
  ['#FFAABB', '#FFAABB', '#1F1E24'],
  ['#abc', '#aabbcc', '#1F1E24'],
  ['navy', '#000080', '#FFFFFF'],
  [' RebeccaPurple ', '#663399', '#FFFFFF'],
])('%s is the colour %s, on which %s can be read', (text, color, on) => {
  expect(parseColor(text)).toBe(color)
  expect(textColor(color)).toBe(on)
})

test.each(['', '#', '#12345', '#12345g', 'no colour', 'constructor', '123456'])('%s is no colour', (text) =>
  expect(parseColor(text)).toBeUndefined(),
)
