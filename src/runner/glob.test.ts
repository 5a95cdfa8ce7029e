import { expect, test } from 'vitest'
import { globBase, globExpression } from './glob.ts'

test.each([
  ['*.txt', ['a.txt', '.txt'], ['a/b.txt', 'a.txt2']],
  ['**/*.txt', ['a.txt', 'a/b.txt', 'a/.b/c.txt'], ['a.md']],
  ['out/**', ['out/a', 'out/a/b'], ['outer/a']],
  ['out/**/x', ['out/x', 'out/a/b/x'], ['out/ax']],
  ['a?c', ['abc'], ['a/c', 'ac']],
  ['{a,b{c,d}}.x', ['a.x', 'bc.x', 'bd.x'], ['b.x']],
  ['[a-c]1', ['a1', 'c1'], ['d1']],
  ['[!a]1', ['b1'], ['a1', '/1']],
  ['\\*.x', ['*.x'], ['a.x']],
  ['a{b', ['a{b'], ['ab']],
  ['a.b+(c)', ['a.b+(c)'], ['aXb+(c)']],
  ['[-x]', ['-', 'x'], ['a']],
  ['é*', ['éa'], ['e']],
  ['a**b', ['ab', 'axxb'], ['a/b']],
])('%s', (pattern, matching, others) => {
  const expression = globExpression(pattern)
  expect(matching.filter((path) => !expression.test(path))).toEqual([])
  expect(others.filter((path) => expression.test(path))).toEqual([])
})

test('the folder all matches lie in', () => {
  expect(globBase('a/b/*.txt')).toBe('a/b')
  expect(globBase('*.txt')).toBe('')
  expect(globBase('a/b')).toBe('a')
})
