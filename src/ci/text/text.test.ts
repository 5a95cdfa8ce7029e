import { expect, test } from 'vitest'
import { parseDuration } from '../../kernel/lib/duration.ts'
import { compileGlob } from './glob.ts'
import { compilePattern, Patterns, splitPattern } from './regex.ts'

test.each([
  ['90', 90],
  [90, 90],
  ['1h', 3600],
  ['1 hour', 3600],
  ['2 hours 30 minutes', 9000],
  ['3h30m', 12600],
  ['1 week', 604800],
  ['1 day, 2 hours and 5 sec', 93605],
  ['1.5 hours', 5400],
  ['2 mos', 5184000],
  ['1 month', 2592000],
  ['1:30:00', 5400],
  ['one week', 604800],
  ['two hours and thirty-five minutes', 9300],
  ['Twenty one days', 1814400],
  ['forty', 40],
  ['10 mins.', null],
  ['', null],
  ['soon', null],
  ['1 fortnight', null],
  ['-5', null],
  ['hour', null],
  ['oneweek', null],
  ['someone week', null],
  ['1h and', 3600],
])('%j lasts %s seconds', (text, seconds) => expect(parseDuration(text)).toBe(seconds))

test.each([
  ['a.txt', 'a.txt', true],
  ['*.rb', 'a.rb', true],
  ['*.rb', 'd/a.rb', false],
  ['**/*.rb', 'a.rb', true],
  ['**/*.rb', 'd/e/a.rb', true],
  ['d/**/*', 'd/a', true],
  ['d/**/*', 'd/e/f/a', true],
  ['d/**/*', 'e/a', false],
  ['d/**', 'd/e/a', false],
  ['*', '.hidden', true],
  ['**/*', '.ci/.hidden', true],
  ['*.{js,ts}', 'a.ts', true],
  ['*.{js,ts}', 'a.css', false],
  ['{src,test}/**/*.{a,b}', 'test/x/y.b', true],
  ['file?.md', 'file1.md', true],
  ['file?.md', 'file/.md', false],
  ['[a-c]x', 'bx', true],
  ['[!a-c]x', 'bx', false],
  ['[a', '[a', true],
  ['\\*', '*', true],
  ['\\*', 'x', false],
  ['a+b(c).txt', 'a+b(c).txt', true],
  ['a.*', 'abc', false],
])('%s against %s is %s', (glob, path, expected) => expect(compileGlob(glob)!(path)).toBe(expected))

test('patterns are of RE2 and bounded', () => {
  expect(compilePattern('a(b', '')).toBeNull()
  expect(compilePattern('(?=x)', '')).toBeNull()
  expect(compilePattern('(?:a{900}){2}'.repeat(10))).toBeNull()
  expect(compilePattern('x'.repeat(5000))).toBeNull()
  expect(compilePattern('A.B', 'is')!.test('xa\nbx')).toBe(true)
  expect(compilePattern('(x+x+)+y')!.test('x'.repeat(100_000))).toBe(false)
})

test('the last match counts', () => {
  expect(compilePattern('\\d+%')!.last('1% 22% x')).toEqual({ text: '22%', from: 0, to: 3 })
  expect(compilePattern('a(\\d+)%')!.last('a1% a22% x')).toEqual({ text: 'a22%', from: 1, to: 3 })
  expect(compilePattern('a(\\d+)?%')!.last('a%')).toEqual({ text: 'a%', from: 0, to: 2 })
  expect(compilePattern('x*')!.last('')).toEqual({ text: '', from: 0, to: 0 })
  expect(compilePattern('y')!.last('x')).toBeNull()
})

test('pattern literals', () => {
  expect(splitPattern('/a/b/i')).toEqual({ source: 'a/b', flags: 'i' })
  expect(splitPattern('/a/x')).toBeNull()
  const patterns = new Patterns()
  expect(patterns.get('/ab/')).toBe(patterns.get('/ab/'))
  expect(patterns.get('ab')).toBeNull()
})
