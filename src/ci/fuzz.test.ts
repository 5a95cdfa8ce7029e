import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compile } from './compile/compile.ts'
import { parse } from './config/parse.ts'
import { contextOf } from './fixtures/pipelines.ts'
import { keywords } from './fixtures/keywords.ts'
import { compileGlob, compileWildcard } from './text/glob.ts'
import { parseDuration } from '../kernel/lib/duration.ts'
import { compilePattern } from './text/regex.ts'

/** Whatever anybody writes: an answer, or errors that can be read; never an exception. */

const key = fc.constantFrom(
  ...new Set([...keywords.global, ...keywords.job].flatMap((path) => path.split(':'))),
  '.x',
  'a',
)
const scalar = fc.oneof(
  fc.constantFrom(
    'a',
    '.x',
    'main',
    '$A',
    '/x+/',
    '$A == "x"',
    '1 day',
    '',
    '!reference [.x, a]',
    '$[[ inputs.a ]]',
  ),
  fc.string({ maxLength: 12 }),
  fc.integer({ min: -5, max: 300 }),
  fc.boolean(),
  fc.constant(null),
)
const { node } = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    scalar,
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(key, tie('node'), { maxKeys: 4 }),
  ),
}))

function check(source: string): void {
  const parsed = parse(source)
  if ('errors' in parsed) {
    expect(parsed.errors.length).toBeGreaterThan(0)
    expect(parsed.errors.every((error) => typeof error === 'string' && error !== '')).toBe(true)
    return
  }
  const result = compile(parsed.config, contextOf(), { explain: true })
  if ('errors' in result) expect(result.errors).not.toEqual([])
  else expect(result.jobs).not.toEqual([])
  expect(JSON.parse(JSON.stringify(result))).toBeDefined()
}

describe('configurations', () => {
  test('of the right words in any order', () => {
    fc.assert(
      fc.property(fc.dictionary(key, node, { maxKeys: 5 }), (data) => check(JSON.stringify(data))),
      { numRuns: 300 },
    )
  })

  test('of a job that is right but for some keys', () => {
    fc.assert(
      fc.property(fc.dictionary(key, node, { maxKeys: 3 }), (keys) =>
        check(JSON.stringify({ a: { script: 'x', ...keys } })),
      ),
      { numRuns: 300 },
    )
  })

  test('of pieces of YAML', () => {
    const piece = fc.constantFrom(
      ...[
        'a:',
        ' ',
        '\n',
        '- ',
        '&x ',
        '*x',
        '<<: ',
        '{',
        '}',
        '[',
        ']',
        '"',
        "'",
        '|',
        '>',
        '#',
        '!reference ',
        '---\n',
      ],
      ...[
        'script: x',
        'spec:',
        '$[[',
        ']]',
        '\t',
        '? ',
        '!!binary ',
        '1e999',
        '0x1f',
        '~',
        '2001-01-01',
        '\u0000',
        '\ufeff',
        '%YAML 1.1\n',
      ],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => check(pieces.join(''))),
      { numRuns: 500 },
    )
  })
})

describe('patterns of paths', () => {
  const segment = fc.stringMatching(/^[a-z.]{1,5}$/)
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
  const globPiece = fc.constantFrom(
    '*',
    '**',
    '**/',
    '/',
    '?',
    '[a-c]',
    '[!x]',
    '{a,b}',
    '{',
    '}',
    '[',
    ']',
    '\\',
    ',',
    'a',
    '.',
  )
  const glob = fc.array(globPiece, { maxLength: 20 }).map((pieces) => pieces.join(''))

  test('never throw, and know every path from itself', () => {
    fc.assert(
      fc.property(glob, path, (pattern, one) => {
        expect([true, false, undefined]).toContain(compileGlob(pattern)?.(one))
        expect(typeof compileWildcard(pattern)(one)).toBe('boolean')
        expect(compileGlob(one)!(one)).toBe(true)
        expect(compileGlob('**/*')!(one)).toBe(true)
        expect(compileWildcard('**')(one)).toBe(true)
        expect(compileGlob('*')!(one)).toBe(!one.includes('/'))
        expect(compileWildcard('*')(one)).toBe(!one.includes('/'))
      }),
    )
  })
})

test('regular expressions that would run long elsewhere are read as what they are', () => {
  expect(compilePattern('(a+)+$')!.test(`${'a'.repeat(50_000)}b`)).toBe(false)
  expect(compilePattern('(x{1000}){1000}')).toBeNull()
  expect(compilePattern('(?=a)')).toBeNull()
})

test('durations are numbers or none', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,12} ?[a-z]{0,7}$/)), (text) => {
      const seconds = parseDuration(text)
      expect(seconds === null || (Number.isFinite(seconds) && seconds >= 0)).toBe(true)
    }),
  )
})
