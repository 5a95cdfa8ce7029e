import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Variable } from '../types.ts'
import { expandText, expandTexts, expandVariables } from './expand.ts'
import { isMaskable } from './mask.ts'
import { mergeVariables } from './merge.ts'
import { orderBySpecificity, scopeMatches, scopeSpecificity, variablesFor } from './scope.ts'
import { environmentSlug, guessTier, refSlug, sitePrefix } from './slug.ts'

describe('environment scopes', () => {
  test.each([
    ['*', '', true],
    ['*', 'a/b', true],
    ['prod', 'prod', true],
    ['prod', 'Prod', false],
    ['prod', 'production', false],
    ['review/*', 'review/a/b', true],
    ['review/*', 'review/', true],
    ['review/*', 'review', false],
    ['*/eu', 'prod/eu', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['a*a', 'a', false],
    ['a_c', 'abc', false],
    ['a%', 'ab', false],
    ['a.c', 'abc', false],
    [`${'*a'.repeat(120)}*b`, 'a'.repeat(250), false],
  ])('%s reaches %s: %s', (scope, environment, expected) =>
    expect(scopeMatches(scope, environment)).toBe(expected),
  )

  test('the most specific wins, then the lower id', () => {
    const scopes = [
      '*',
      'review/*',
      'review/feature-*',
      'review/feature-1',
      'review/feature-?',
      '*/feature-1',
    ]
    const variables = scopes.map((environmentScope, id) => ({
      id,
      key: 'A',
      value: environmentScope,
      environmentScope,
    }))
    const taken = (environment: string | null) => {
      const list = variablesFor(environment, orderBySpecificity(variables))
      return mergeVariables(list)[0]?.value
    }
    expect(taken('review/feature-1')).toBe('review/feature-1')
    expect(taken('review/feature-2')).toBe('review/feature-*')
    expect(taken('review/x')).toBe('review/*')
    expect(taken('prod/feature-1')).toBe('*/feature-1')
    expect(taken('prod')).toBe('*')
    expect(taken(null)).toBe('*')
    const equal = ['a*', '*a'].map((environmentScope) => ({
      key: 'A',
      value: environmentScope,
      environmentScope,
    }))
    expect(mergeVariables(orderBySpecificity(equal))[0]!.value).toBe('a*')
    expect(scopeSpecificity('abc')).toBeGreaterThan(scopeSpecificity(`${'a'.repeat(254)}*`))
  })
})

test('later lists win', () => {
  const merged = mergeVariables(
    [
      { key: 'A', value: '1' },
      { key: 'B', value: '1' },
    ],
    [{ key: 'A', value: '2' }],
  )
  expect(merged).toEqual([
    { key: 'A', value: '2' },
    { key: 'B', value: '1' },
  ])
})

describe('expansion', () => {
  const list = (values: Record<string, string>): Variable[] =>
    Object.entries(values).map(([key, value]) => ({ key, value }))
  const expanded = (variables: Variable[]) => {
    const result = expandVariables(variables)
    return 'error' in result
      ? result.error
      : Object.fromEntries(result.variables.map(({ key, value }) => [key, value]))
  }

  test.each<[Record<string, string>, Record<string, string>]>([
    [
      { A: 'a', B: '$A' },
      { A: 'a', B: 'a' },
    ],
    [
      { B: '$A', A: 'a' },
      { A: 'a', B: 'a' },
    ],
    [
      { A: 'a', B: '${A}b%A%' },
      { A: 'a', B: 'aba' },
    ],
    [
      { A: 'a', B: '$$A %%A%% $A' },
      { A: 'a', B: '$$A %%A%% a' },
    ],
    [{ B: '$NOPE ${NOPE} %NOPE%' }, { B: '$NOPE ${NOPE} %NOPE%' }],
    [
      { A: 'a', B: '$A', C: '$B$B', D: 'x$C' },
      { A: 'a', B: 'a', C: 'aa', D: 'xaa' },
    ],
    [{ PATH: '$PATH:/x' }, { PATH: '$PATH:/x' }],
    [
      { A: '100%', B: '$A sure' },
      { A: '100%', B: '100% sure' },
    ],
    [
      { A: '', B: 'x$A' },
      { A: '', B: 'x' },
    ],
    [
      { A: '$&$1', B: '[$A]' },
      { A: '$&$1', B: '[$&$1]' },
    ],
  ])('%j', (given, expected) => expect(expanded(list(given))).toEqual(expected))

  test('raw and file variables stay, and so do references to them', () => {
    const variables = [
      ...list({ A: 'a', B: '$R $F $A' }),
      { key: 'R', value: '$A', raw: true },
      { key: 'F', value: 'content $A', file: true },
    ]
    expect(expanded(variables)).toEqual({ A: 'a', B: '$R $F a', R: '$A', F: 'content a' })
  })

  test('the last of a key counts', () => {
    expect(expanded([...list({ A: '1', B: '$A' }), { key: 'A', value: '2' }])).toEqual({ A: '2', B: '2' })
  })

  test('circles are named', () => {
    expect(expanded(list({ A: '$B', B: '$A' }))).toBe('circular variable reference detected: ["A", "B"]')
    expect(expanded(list({ X: '$A', A: '$B', B: '$C', C: '$A' }))).toBe(
      'circular variable reference detected: ["A", "B", "C"]',
    )
  })

  test('growth is bounded, depth is not', () => {
    const bomb = Array.from({ length: 100 }, (_, i) => ({ key: `V${i + 1}`, value: `$V${i}$V${i}` }))
    expect(expanded([{ key: 'V0', value: 'x' }, ...bomb])).toBe('The expanded variables are too big')
    const chain = Array.from({ length: 20_000 }, (_, i) => ({ key: `V${i + 1}`, value: `$V${i}` }))
    expect(expanded([{ key: 'V0', value: 'x' }, ...chain])).toMatchObject({ V20000: 'x' })
  })

  test('texts take only what they need', () => {
    const known = new Map(
      list({ A: '$B', B: 'b', X: '$Y', Y: '$X' }).map((variable) => [variable.key, variable]),
    )
    const lookup = (key: string) => known.get(key)
    expect(expandTexts(['$A', 'plain', '$NOPE'], lookup)).toEqual({ texts: ['b', 'plain', '$NOPE'] })
    expect(expandTexts(['$X'], lookup)).toHaveProperty('error')
    expect(
      expandText('$A-$F', [
        { key: 'A', value: '1' },
        { key: 'F', value: 'f', file: true },
      ]),
    ).toBe('1-$F')
  })

  const value = fc
    .array(fc.constantFrom('$A', '${B}', '%C%', '$$', '%%', '$', '%', '{', 'x', '$D', '$E'))
    .map((all) => all.join(''))
  test('always ends with values or one of its two errors, and a second time changes nothing new', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            key: fc.constantFrom('A', 'B', 'C', 'D', 'E'),
            value,
            raw: fc.boolean(),
            file: fc.boolean(),
          }),
        ),
        (variables) => {
          const result = expandVariables(variables)
          if ('error' in result)
            expect(result.error).toMatch(/^(circular variable reference detected: \[|The expanded)/)
          else
            expect(new Set(result.variables.map(({ key }) => key))).toEqual(
              new Set(variables.map(({ key }) => key)),
            )
        },
      ),
    )
  })

  test('without circles no reference to a known plain variable is left', () => {
    const acyclic = fc.array(fc.array(fc.nat(19), { maxLength: 3 }), { maxLength: 20 })
    fc.assert(
      fc.property(acyclic, (references) => {
        const variables = references.map((refs, i) => ({
          key: `V${i}`,
          value: refs
            .filter((ref) => ref < i)
            .map((ref) => `<\${V${ref}}>`)
            .join(''),
        }))
        const result = expandVariables([...variables].reverse())
        expect(
          'variables' in result && result.variables.every((variable) => !variable.value.includes('$')),
        ).toBe(true)
      }),
    )
  })
})

test.each([
  ['s3cretValue', false, true],
  ['abc/+=@:.~-_', false, true],
  ['short12', false, false],
  ['has space 123', false, false],
  ['dollar$1234', false, false],
  ['exclaim!1234', false, false],
  ['line\nbreak1', false, false],
  ['trailing1\n', false, false],
  ['exclaim!1234', true, true],
  ['dollar$1234', true, true],
  ['has space 123', true, false],
  ['line\nbreak1', true, false],
  ['short!!', true, false],
  ['', false, false],
])('%j (raw %s) can be masked: %s', (value, raw, expected) => expect(isMaskable(value, raw)).toBe(expected))

test.each([
  ['main', 'main'],
  ['Feature/X_1', 'feature-x-1'],
  ['--a--', 'a'],
  ['a'.repeat(80), 'a'.repeat(63)],
  [`${'a'.repeat(62)}/b`, 'a'.repeat(62)],
])('slug of ref %s', (ref, slug) => expect(refSlug(ref)).toBe(slug))

test.each([
  ['Feature/X', 'feature-x'],
  ['v1.2.x', 'v1.2.x'],
  ['.a//b.', 'a--b'],
  [`${'a'.repeat(62)}.b`, 'a'.repeat(62)],
  ['/', ''],
])('prefix of a site %s', (written, prefix) => expect(sitePrefix(written)).toBe(prefix))

describe('environment slugs', () => {
  test('short plain names stay', () => {
    expect(environmentSlug('production')).toBe('production')
    expect(environmentSlug('review-1')).toBe('review-1')
  })
  test('others get a digest and fit', () => {
    expect(environmentSlug('review/fix-1')).toMatch(/^review-fix-1-[a-z0-9]{6}$/)
    expect(environmentSlug('Production')).toMatch(/^production-[a-z0-9]{6}$/)
    expect(environmentSlug('1')).toMatch(/^env-1-[a-z0-9]{6}$/)
    expect(environmentSlug('Production')).not.toBe(environmentSlug('PRODUCTION'))
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(environmentSlug(name)).toMatch(/^[a-z](?:[a-z0-9-]{0,22}[a-z0-9])?$/)
      }),
    )
  })
  test('tiers are guessed', () => {
    expect(['production', 'staging', 'review/x', 'qa', 'moon'].map(guessTier)).toEqual([
      'production',
      'staging',
      'development',
      'testing',
      'other',
    ])
  })
})
