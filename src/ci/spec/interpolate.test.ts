import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../config/config-error.ts'
import { isMap, Reference, type Data } from '../config/data.ts'
import { IncludeVariables } from '../include/context.ts'
import { interpolate } from './interpolate.ts'

const variables = new IncludeVariables({
  predefined: [{ key: 'BRANCH', value: 'main' }],
  given: [
    { key: 'NAME', value: 'app-$BRANCH' },
    { key: 'SECRET', value: 'sesame', masked: true },
  ],
})
const inputs = new Map<string, Data>([
  ['text', 'héllo world'],
  ['vars', '$NAME ${BRANCH} $NOPE'],
  ['secret', '$SECRET'],
  ['number', 8],
  ['list', ['a', 'b', ['c']]],
  ['none', null],
  ['block', '$[[ inputs.text ]]'],
])
const put = (content: Data) => {
  try {
    return interpolate(content, new Map([['inputs', inputs]]), (text) => variables.expandUnmasked(text))
  } catch (error) {
    if (error instanceof ConfigError) return { error: error.message }
    throw error
  }
}

test.each<[string, Data]>([
  ['plain', 'plain'],
  ['$[[ inputs.text ]]', 'héllo world'],
  ['$[[inputs.text]]', 'héllo world'],
  ['<$[[ inputs.number ]]|$[[ inputs.text ]]>', '<8|héllo world>'],
  ['$[[ inputs.number ]]', 8],
  ['$[[ inputs.list ]]', ['a', 'b', ['c']]],
  ['=$[[ inputs.list ]]', '=["a","b",["c"]]'],
  ['=$[[ inputs.none ]]=', '=='],
  ['$[[ inputs.list[1] ]]', 'b'],
  ['$[[ inputs.list[2][0] ]]', 'c'],
  ['$[[ inputs.block ]]', '$[[ inputs.text ]]'],
  ['$[[ inputs.text | truncate(1,4) ]]', 'éllo'],
  ['$[[ inputs.text | truncate( 6 , 99 ) ]]', 'world'],
  ['$[[ inputs.text | truncate(99,1) ]]', ''],
  ['$[[ inputs.vars | expand_vars ]]', 'app-main main $NOPE'],
  ['$[[ inputs.text | posix_escape ]]', 'h\\éllo\\ world'],
  [
    '$[[ inputs.none | posix_escape ]]',
    {
      error:
        'error in `posix_escape` function: invalid input type: posix_escape can only be used with string inputs',
    },
  ],
  ["$[[ inputs.text | split(' ') ]]", ['héllo', 'world']],
  ['$[[ inputs.vars | expand_vars | truncate(0,3) | posix_quote ]]', 'app'],
  ['$[[ matrix.X ]]', '$[[ matrix.X ]]'],
  ['$[[ ]]', '$[[ ]]'],
  ['$[[ open', '$[[ open'],
  ['$[[ inputs.\ntext ]]', '$[[ inputs.\ntext ]]'],
])('%j', (text, value) => expect(put(text)).toEqual(value))

test.each([
  ['$[[ x ]]', 'invalid pattern used for interpolation. valid pattern is $[[ inputs.input ]]'],
  ['$[[ inputs.x ]]', 'unknown interpolation provided: `x` in `inputs.x`'],
  ['$[[ other.x ]]', 'unknown interpolation provided: `other` in `other.x`'],
  ['$[[ inputs.text.deep ]]', 'unknown interpolation provided: `deep` in `inputs.text.deep`'],
  ['$[[ inputs.toString ]]', 'unknown interpolation provided: `toString` in `inputs.toString`'],
  ['$[[ inputs.text[0] ]]', 'cannot index into non-array value at [0] in `inputs.text[0]`'],
  ['$[[ inputs.list[9] ]]', 'array index 9 out of bounds (size: 3) in `inputs.list[9]`'],
  ['$[[ inputs.list[x] ]]', 'invalid array index syntax in `inputs.list[x]`'],
  [
    '$[[ inputs.text | upcase ]]',
    'no function matching `upcase`: check that the function name, arguments, and types are correct',
  ],
  [
    '$[[ inputs.text | truncate(1) ]]',
    'no function matching `truncate(1)`: check that the function name, arguments, and types are correct',
  ],
  [
    '$[[ inputs.number | truncate(0,1) ]]',
    'error in `truncate` function: invalid input type: truncate can only be used with string inputs',
  ],
  [
    "$[[ inputs.text | split('') ]]",
    'error in `split` function: invalid argument: separator cannot be empty',
  ],
  [
    '$[[ inputs.secret | expand_vars ]]',
    'error in `expand_vars` function: variable expansion error: masked variables cannot be expanded',
  ],
  [`$[[ inputs.text ${'| expand_vars '.repeat(4)}]]`, 'too many functions in interpolation block'],
  [`$[[ inputs.${'x'.repeat(1024)} ]]`, 'maximum interpolation expression size exceeded'],
  [`$[[ inputs.text ]]${'x'.repeat(1024 * 1024)}`, 'config node too large'],
])('%.60s: %s', (text, error) => expect(put(text)).toEqual({ error }))

test('keys, lists and references are texts as well', () => {
  const made = put({
    'a$[[ inputs.number ]]': ['$[[ inputs.number ]]', new Reference(['$[[ inputs.text ]]', 'b'])],
  })
  expect(isMap(made) && made['a8']).toEqual([8, new Reference(['héllo world', 'b'])])
})

describe('ends, and soon', () => {
  test.each([
    ['open blocks', '$[['.repeat(300_000)],
    ['closed blocks', '$[[ inputs.text ]]'.repeat(50_000)],
    ['pipes', `$[[ inputs.text ${'|'.repeat(1000)} ]]`],
  ])('%s', (_, text) => {
    const start = performance.now()
    put(text)
    expect(performance.now() - start).toBeLessThan(20_000)
  })

  test('values that grow are refused', () => {
    const large = new Map<string, Data>([['x', 'x'.repeat(1024 * 1024)]])
    const content = Array.from({ length: 100 }, (_, i) => `${i} $[[ inputs.x ]]`)
    expect(() => interpolate(content, new Map([['inputs', large]]), (text) => text)).toThrow(
      'config too large',
    )
  })

  test('whatever the text', () => {
    const pieces = fc.constantFrom(
      '$[[',
      ']]',
      'inputs',
      '.',
      'text',
      'list',
      '[',
      '0',
      ']',
      '|',
      ' ',
      'truncate(0,1)',
      "split('",
      'expand_vars',
      '\n',
    )
    fc.assert(
      fc.property(fc.string({ unit: pieces }), (text) => void put(text)),
      { numRuns: 3000 },
    )
  })
})
