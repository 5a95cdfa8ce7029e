// @module-tag long
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { branchRef, parseFilePath, parsePath, parseRefName, parseRev, tagRef } from './parse.ts'

// Pieces that the rules are about, mixed with ordinary text.
const piece = fc.constantFrom(
  'a',
  'B',
  '/',
  '.',
  '..',
  '.lock',
  '@',
  '@{',
  '{',
  '~',
  '^',
  ':',
  '?',
  '*',
  '[',
  '\\',
  ' ',
  '-',
  '\x7f',
  '\t',
  'ä',
  '😀',
  'HEAD',
  'lock',
)
const refLike = fc.array(piece, { maxLength: 8 }).map((parts) => `refs/${parts.join('')}`)

test('ref names are those that git accepts', () => {
  fc.assert(
    fc.property(fc.array(refLike, { minLength: 20, maxLength: 20 }), (names) => {
      for (const name of names) {
        const byGit = spawnSync('git', ['check-ref-format', name]).status === 0
        // Beyond git: no one-level name, such as refs/stash.
        expect([name, parseRefName(name) !== undefined]).toEqual([name, byGit && name.includes('/', 5)])
      }
    }),
    { numRuns: 20 },
  )
})

test.each([
  ['main', true],
  ['feature/x', true],
  ['-main', false],
  ['HEAD', false],
  ['a..b', false],
  ['a b', false],
  ['', false],
  ['a\ud800', false],
])('a branch may be called %j: %s', (name, allowed) => {
  expect(branchRef(name) !== undefined).toBe(allowed)
})

test('a tag may be called HEAD', () => {
  expect(tagRef('HEAD')).toBe('refs/tags/HEAD')
  expect(tagRef('-d')).toBeUndefined()
})

test.each([
  'main',
  'HEAD',
  '@',
  'HEAD~2',
  'main^',
  'main^2~3',
  'v1^{}',
  'v1^{commit}',
  'a'.repeat(40),
  'abc123',
  'refs/heads/x',
])('%s is a revision', (text) => expect(parseRev(text)).toBe(text))

test.each([
  '',
  '-n1',
  '--all',
  ':/fix',
  'main^{/fix}',
  'main@{1}',
  'a:b',
  'a..b',
  '^main',
  'a b',
  'a\nb',
  'a\0b',
  'main~-1',
  'main^{x}',
])('%j is none', (text) => expect(parseRev(text)).toBeUndefined())

test.each([
  ['', ''],
  ['/', ''],
  ['a/b', 'a/b'],
  ['/a/b/', 'a/b'],
  ['-x', '-x'],
  ['a\nb*?', 'a\nb*?'],
  ['a//b', undefined],
  ['a/../b', undefined],
  ['..', undefined],
  ['./a', undefined],
  ['a\0', undefined],
])('the path %j is %j', (text, path) => {
  expect(parsePath(text)).toBe(path)
})

test.each(['', '/', 'a/', '.git', '.GIT/config', 'x/.Git/y', '../a'])('%j is not written to', (path) => {
  expect(parseFilePath(path)).toBeUndefined()
})
