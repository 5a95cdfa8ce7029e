import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../errors/index.ts'
import { mergeParams, parseNested, parseQuery } from './nested-params.ts'
import { queryText } from './pagination.ts'

/** The bag as JSON shows it, prototypes aside. */
const plain = (bag: unknown): unknown => JSON.parse(JSON.stringify(bag))

function errorOf(act: () => unknown): unknown {
  try {
    act()
  } catch (error) {
    if (error instanceof ApiError) return error.body
    throw error
  }
  return undefined
}

describe('bracket notation', () => {
  test.each<[string, unknown]>([
    ['', {}],
    ['a=1&b=', { a: '1', b: '' }],
    ['a', { a: '' }],
    ['&&a=1&', { a: '1' }],
    ['=1', {}],
    ['a=1&a=2', { a: '2' }],
    ['a=b=c', { a: 'b=c' }],
    ['filter[environment_scope]=prod', { filter: { environment_scope: 'prod' } }],
    ['filter%5Bscope%5D=a+b%20c', { filter: { scope: 'a b c' } }],
    ['scope[]=failed&scope[]=success', { scope: ['failed', 'success'] }],
    ['variables[HOST]=a&variables[PORT]=1', { variables: { HOST: 'a', PORT: '1' } }],
    [
      'variables[][key]=A&variables[][value]=1&variables[][key]=B',
      { variables: [{ key: 'A', value: '1' }, { key: 'B' }] },
    ],
    ['a[][b][c]=1&a[][b][d]=2&a[][b][c]=3', { a: [{ b: { c: '1', d: '2' } }, { b: { c: '3' } }] }],
    ['a[][b][]=1&a[][b][]=2', { a: [{ b: ['1', '2'] }] }],
    ['a[][]=1&a[][]=2', { a: [['1'], ['2']] }],
    ['a[0][b]=x&a[1][b]=y', { a: { 0: { b: 'x' }, 1: { b: 'y' } } }],
    ['a[b]c=1', { a: { b: { c: '1' } } }],
    ['a[b=1', { a: { '[b': '1' } }],
    ['a]=1', { 'a]': '1' }],
    ['a[b]=1&a[b]=2', { a: { b: '2' } }],
    ['name=%F0%9F%90%B3', { name: '🐳' }],
    // Bytes sent as they are: HTTP hands them over as one character each.
    [`name=${Buffer.from('größe🐳').toString('latin1')}`, { name: 'größe🐳' }],
  ])('%s', (query, bag) => expect(plain(parseQuery(query))).toEqual(bag))

  test.each([
    ['a=1&a[b]=2', 'a is invalid'],
    ['a[b]=1&a=2', 'a is invalid'],
    ['a[]=1&a[b]=2', 'a is invalid'],
    ['a[b]=1&a[]=2', 'a is invalid'],
    ['a[][b]=1&a[][b][c]=2', 'a is invalid'],
    ['name=%00', 'name is invalid'],
    ['name=%C3%28', 'name is invalid'],
    ['name=%ED%A0%80', 'name is invalid'],
    ['name=100%', 'name is invalid'],
    ['name=\xff', 'name is invalid'],
    ['filter[a]=%ff', 'filter[a] is invalid'],
    ['%ff=1', 'Invalid parameter encoding'],
    ['a%00=1', 'Invalid parameter encoding'],
    [`a${'[b]'.repeat(32)}=1`, 'Parameters nested too deeply'],
    ['a=&'.repeat(100_001), 'Too many total parameters'],
    ['a[]=&'.repeat(50_001), 'Array parameter too large'],
    [Array.from({ length: 50_001 }, (_, index) => `a[k${index}]=`).join('&'), 'Hash parameter too large'],
  ])('%.60s is refused', (query, error) => expect(errorOf(() => parseQuery(query))).toEqual({ error }))

  test('depth 32 is fine', () => expect(errorOf(() => parseQuery(`a${'[b]'.repeat(31)}=1`))).toBeUndefined())

  test.each(['__proto__=1', '__proto__[admin]=1', 'a[__proto__][admin]=1', 'a[][__proto__][admin]=1'])(
    '%s does no harm',
    (query) => {
      expect(JSON.stringify(parseQuery(query))).not.toContain('admin')
      expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
    },
  )

  test('names of Object.prototype are names like others', () => {
    expect(plain(parseQuery('constructor[prototype][a]=1&toString=2'))).toEqual({
      constructor: { prototype: { a: '1' } },
      toString: '2',
    })
  })

  test('values that are no text stay as they are', () => {
    const when = new Date()
    expect(parseNested([['a[]', when]])['a']).toEqual([when])
  })
})

test('the first source wins', () => {
  const bag = mergeParams(
    { id: '1' },
    { id: '2', a: 'q' },
    JSON.parse('{"a":"b","c":1,"__proto__":{"x":1}}') as Record<string, unknown>,
  )
  expect(bag).toMatchObject({ id: '1', a: 'q', c: 1 })
  expect(({} as Record<string, unknown>)['x']).toBeUndefined()
})

describe('any input', () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '[',
    ']',
    '[]',
    '=',
    '&',
    '+',
    '%',
    '%00',
    '%41',
    '%ff',
    'é',
    '__proto__',
    '1',
  )

  test('parses or is refused as the API refuses', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 40 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(anything, (query) => void errorOf(() => parseQuery(query))),
      { numRuns: 3000 },
    )
    expect(({} as Record<string, unknown>)['a']).toBeUndefined()
  })

  test('what the links repeat comes back the same', () => {
    const key = fc.string({
      minLength: 1,
      unit: fc.constantFrom('a', 'b', 'Z', '_', '-', ' ', '&', '=', 'ü', '🐳', '%'),
    })
    const leaf = fc.string({ unit: fc.constantFrom('a', ' ', '+', '&', '=', '[', ']', '%', 'ü', '🐳', '/') })
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.array(leaf, { minLength: 1 }),
        fc.dictionary(key, tie('tree'), { minKeys: 1, noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(key, tree, { noNullPrototype: true }), (params) => {
        expect(plain(parseQuery(queryText(params)))).toEqual(params)
      }),
    )
  })
})
