import fc from 'fast-check'
import Type from 'typebox'
import { describe, expect, test } from 'vitest'
import { compileParams, requiredOnInput } from './coerce.ts'
import { parseQuery } from './nested-params.ts'
import {
  DateOnly,
  DateTime,
  Either,
  Fields,
  File,
  Flag,
  Float,
  Hash,
  Id,
  Int,
  Json,
  ListOf,
  Nullable,
  OneOf,
  Optional,
  Text,
  UploadedFile,
  type TSchema,
} from './types.ts'

/** What becomes of one parameter `p` of a type: its value, or the faults as the answer joins them. */
function given(type: TSchema, p: unknown): unknown {
  const { value, faults } = compileParams(Fields({ p: type }))({ p })
  return faults === undefined ? (value as { p?: unknown }).p : faults.join(', ')
}

const invalid = 'p is invalid'
const unlisted = 'p does not have a valid value'
const empty = 'p is empty'

describe('what each type makes of a value (conventions, 1.3)', () => {
  test.each<[string, TSchema, unknown, unknown]>([
    ['Int', Int(), 5, 5],
    ['Int', Int(), '5', 5],
    ['Int', Int(), '-5', -5],
    ['Int', Int(), 5.0, 5],
    ['Int', Int(), '007', 7],
    ['Int', Int(), '-0', 0],
    ['Int', Int(), '5.5', invalid],
    ['Int', Int(), 5.5, invalid],
    ['Int', Int(), 'five', invalid],
    ['Int', Int(), '0x10', invalid],
    ['Int', Int(), '1e3', invalid],
    ['Int', Int(), ' ', invalid],
    ['Int', Int(), true, invalid],
    ['Int', Int(), [5], invalid],
    ['Int', Int(), { a: 5 }, invalid],
    ['Int', Int(), '', empty],
    ['Id', Id(), '9007199254740991', 9007199254740991],
    ['Id', Id(), '9007199254740992', invalid],
    ['Int of 32 bits', Int(), 2147483647, 2147483647],
    ['Int of 32 bits', Int(), 2147483648, invalid],
    ['Int of 32 bits', Int(), '-2147483649', invalid],
    ['Int, longer', Int({ maximum: 2 ** 40 }), 2147483648, 2147483648],
    ['Id', Id(), 1e300, invalid],
    ['Int, bounded', Int({ minimum: 1, maximum: 9 }), '10', unlisted],
    ['Int, bounded', Int({ minimum: 1, maximum: 9 }), 0, unlisted],
    ['Int, bounded', Int({ minimum: 1, maximum: 9 }), 9, 9],
    ['Int, with an exception', Int({ except: [0] }), '0', 'p has a value not allowed'],
    ['Float', Float(), '1.25', 1.25],
    ['Float', Float(), 2, 2],
    ['Float', Float(), '.5e1', 5],
    ['Float', Float(), '1e999', invalid],
    ['Float', Float(), 'NaN', invalid],
    ['Float', Float(), 'Infinity', invalid],
    ['Text', Text(), 'a', 'a'],
    ['Text', Text(), '', ''],
    ['Text', Text(), 5, '5'],
    ['Text', Text(), true, 'true'],
    ['Text', Text(), ['a'], invalid],
    ['Text', Text(), { a: 1 }, invalid],
    ['Text', Text(), null, empty],
    ['Text, not blank', Text({ blank: false }), '', empty],
    ['Text, not blank', Text({ blank: false }), ' \n', empty],
    ['Text, not blank', Text({ blank: false }), null, empty],
    ['Text, with a pattern', Text({ pattern: '^[a-z]+$' }), 'ab', 'ab'],
    ['Text, with a pattern', Text({ pattern: '^[a-z]+$' }), 'a1', invalid],
    ['Text, long', Text({ maxLength: 1 }), 'ab', 'ab'],
    ['Flag, not blank', Flag({ blank: false }), null, empty],
    ['Flag, not blank', Flag({ blank: false }), false, false],
    ['Flag', Flag(), 2, invalid],
    ['Flag', Flag(), 'maybe', invalid],
    ['Flag', Flag(), 'oN', invalid],
    ['Flag', Flag(), [], invalid],
    ['DateTime', DateTime(), '2026-02-03T09:41:07.512Z', new Date('2026-02-03T09:41:07.512Z')],
    ['DateTime', DateTime(), '2026-02-03', new Date('2026-02-03T00:00:00.000Z')],
    ['DateTime', DateTime(), '2026-02-30', invalid],
    ['DateTime', DateTime(), 'tomorrow', invalid],
    ['DateTime', DateTime(), 1770111667, invalid],
    ['DateOnly', DateOnly(), '2028-02-29', '2028-02-29'],
    ['DateOnly', DateOnly(), '2026-02-29', invalid],
    ['DateOnly', DateOnly(), '2026-02-28T00:00:00Z', '2026-02-28'],
    ['DateOnly', DateOnly(), '2026-02-28T25:00:00Z', invalid],
    ['DateOnly', DateOnly(), '2026-02-28 noon', invalid],
    ['DateOnly', DateOnly(), '2026-2-3', invalid],
    ['OneOf', OneOf('asc', 'desc'), 'asc', 'asc'],
    ['OneOf', OneOf('asc', 'desc'), 'ASC', unlisted],
    ['OneOf', OneOf('asc', 'desc'), '', unlisted],
    ['OneOf', OneOf('asc', 'desc'), null, unlisted],
    ['OneOf', OneOf('asc', 'desc'), ['asc'], invalid],
    ['OneOf numbers', OneOf(0, 30, 40), '30', 30],
    ['OneOf numbers', OneOf(0, 30, 40), 31, unlisted],
    ['OneOf numbers', OneOf(0, 30, 40), 'thirty', invalid],
    ['Type.Enum', Type.Enum(['a', 'b']), 'c', unlisted],
    ['Type.Union', Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Null()]), 'c', unlisted],
    ['Type.Union', Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Null()]), 'b', 'b'],
    ['Type.Union', Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Null()]), null, null],
    ['Nullable OneOf', Nullable(OneOf('a', 'b')), null, null],
    ['Nullable OneOf', Nullable(OneOf('a', 'b')), 'c', unlisted],
    ['Nullable Int', Nullable(Int()), '', null],
    ['Nullable Text', Nullable(Text()), null, null],
    ['Nullable Text', Nullable(Text()), '', ''],
    ['Nullable list', Nullable(ListOf(Int())), null, null],
    ['ListOf', ListOf(Text()), ['a', 1], ['a', '1']],
    ['ListOf', ListOf(Text()), 'a', invalid],
    ['ListOf', ListOf(Text()), '', []],
    ['ListOf', ListOf(Text()), [['a']], invalid],
    ['ListOf', ListOf(Text()), { 1: 'b', 0: 'a', 10: 'c' }, ['a', 'b', 'c']],
    ['ListOf', ListOf(Text()), { a: 'b' }, invalid],
    ['ListOf numbers', ListOf(Int()), ['1', '', null, 2], [1, 2]],
    ['ListOf numbers', ListOf(Int()), ['1', 'x', 'y'], invalid],
    ['ListOf choices', ListOf(OneOf('a', 'b')), ['a', 'c'], unlisted],
    ['ListOf nullables', ListOf(Nullable(Int())), [1, null], [1, null]],
    ['ListOf, single', ListOf(Text(), { single: true }), 'a,b', ['a,b']],
    ['ListOf, single', ListOf(Int(), { single: true }), 5, [5]],
    ['ListOf, comma', ListOf(Text(), { commaSeparated: true }), 'a, b,,c', ['a', 'b', 'c']],
    ['ListOf, comma', ListOf(Text(), { commaSeparated: true }), ['a,b', 'c'], ['a', 'b', 'c']],
    ['ListOf, comma', ListOf(Int(), { commaSeparated: true }), '1,2', [1, 2]],
    ['ListOf, comma', ListOf(Int(), { commaSeparated: true }), '1,x', invalid],
    ['ListOf, not blank', ListOf(Text(), { blank: false }), [], empty],
    ['Hash', Hash(Text()), { A: 'b', C: 1 }, { A: 'b', C: '1' }],
    ['Hash', Hash(Text()), '', {}],
    ['Hash', Hash(Text()), 'a', invalid],
    ['Hash', Hash(Text()), [], invalid],
    ['Hash', Hash(Text()), { A: [] }, 'p[A] is invalid'],
    ['Hash', Hash(Text()), { A: null }, 'p[A] is invalid'],
    ['Hash of numbers', Hash(Int()), { default: '75' }, { default: 75 }],
    ['Type.Record', Type.Record(Type.String(), Type.Integer()), { a: '1' }, { a: 1 }],
    ['Fields', Fields({ a: Int() }), { a: '1', b: 2 }, { a: 1 }],
    ['Fields', Fields({ a: Int() }), {}, 'p[a] is missing'],
    ['Fields', Fields({ a: Int() }), { a: 'x' }, 'p[a] is invalid'],
    ['Fields', Fields({ a: Int() }), 'x', invalid],
    ['Fields', Fields({ a: Int() }), '', empty],
    ['Either', Either(Int(), Text()), '5', 5],
    ['Either', Either(Int(), Text()), 'a', 'a'],
    ['Either', Either(Int(), Text()), '', ''],
    ['Either', Either(Int(), Text()), [], invalid],
    ['Json', Json(), { a: [1, { b: null }] }, { a: [1, { b: null }] }],
    ['Json', Json(), null, null],
    ['File', File(), 'text', invalid],
    ['File', File(), { filename: 'a', stored: '/etc/passwd' }, invalid],
  ])('%s takes %j', (_, type, value, expected) => expect(given(type, value)).toEqual(expected))

  test.each([
    '1',
    't',
    'T',
    'y',
    'Y',
    'yes',
    'Yes',
    'YES',
    'on',
    'On',
    'ON',
    'true',
    'True',
    'TRUE',
    1,
    true,
  ])('Flag takes %j as true', (value) => expect(given(Flag(), value)).toBe(true))
  test.each([
    '0',
    'f',
    'F',
    'n',
    'N',
    'no',
    'No',
    'NO',
    'off',
    'Off',
    'OFF',
    'false',
    'False',
    'FALSE',
    0,
    false,
  ])('Flag takes %j as false', (value) => expect(given(Flag(), value)).toBe(false))

  test('a file that was taken in passes as it is', () => {
    const file = new UploadedFile('a.png', 'image/png', 3, 'stored')
    expect(given(File(), file)).toBe(file)
  })

  test('a hash of the caller has no prototype', () => {
    expect(Object.getPrototypeOf(given(Hash(Text()), { a: '1' }))).toBeNull()
    expect(Object.keys(given(Hash(Text()), JSON.parse('{"__proto__":"x"}')) as object)).toEqual([])
  })
})

const check = (schema: Parameters<typeof compileParams>[0], bag: Record<string, unknown>) => {
  const { value, faults } = compileParams(schema)(bag)
  return faults === undefined ? value : faults.join(', ')
}

describe('absence, null and defaults', () => {
  test('a required one that is absent is missing, and nothing else is said of it', () => {
    const schema = Fields({ key: Text({ blank: false }), level: OneOf(1, 2), at: DateTime() })
    expect(check(schema, {})).toBe('key is missing, level is missing, at is missing')
  })

  test('several faults stand in the order of declaration', () => {
    const schema = Fields({ page: Int(), key: Text(), per_page: Int() })
    expect(check(schema, { per_page: 'x', page: 'x' })).toBe(
      'page is invalid, key is missing, per_page is invalid',
    )
  })

  test('what is not declared is dropped', () =>
    expect(check(Fields({ a: Int() }), { a: 1, b: 2 })).toEqual({ a: 1 }))

  test('a default stands for what is absent', () => {
    const schema = Fields({ page: Int({ default: 1 }), sort: OneOf(['asc', 'desc'], { default: 'desc' }) })
    expect(check(schema, {})).toEqual({ page: 1, sort: 'desc' })
    expect(check(schema, { page: '', sort: null })).toEqual({ page: 1, sort: 'desc' })
    expect(requiredOnInput(schema)).toEqual([])
  })

  test('an explicit null stays where null is a value', () => {
    const schema = Fields({ description: Nullable(Text({ default: 'x' })) })
    expect(check(schema, { description: null })).toEqual({ description: null })
    expect(check(schema, {})).toEqual({ description: 'x' })
  })

  test('null for an optional one that cannot be null counts as not given', () => {
    const schema = Fields({ name: Optional(Text()), position: Optional(Int()), at: Optional(DateTime()) })
    expect(check(schema, { name: null, position: '', at: '' })).toEqual({})
  })

  test('a default is not shared between requests', () => {
    const schema = Fields({ list: ListOf(Text(), { default: ['a'] }) })
    const coerce = compileParams(schema)
    coerce({}).value?.list.push('b')
    expect(coerce({}).value).toEqual({ list: ['a'] })
  })

  test('names of Object.prototype are absent like any other', () => {
    expect(check(Fields({ constructor: Optional(Text()), toString: Text() }), {})).toBe('toString is missing')
  })

  test('required on input', () =>
    expect(requiredOnInput(Fields({ a: Int(), b: Optional(Int()), c: Int({ default: 1 }) }))).toEqual(['a']))
})

describe('nested parameters', () => {
  const variables = Fields({ variables: Optional(ListOf(Fields({ key: Text(), value: Optional(Text()) }))) })

  test.each<[string, unknown]>([
    [
      'variables[][key]=A&variables[][value]=1&variables[][key]=B',
      { variables: [{ key: 'A', value: '1' }, { key: 'B' }] },
    ],
    ['variables[1][key]=B&variables[0][key]=A', { variables: [{ key: 'A' }, { key: 'B' }] }],
    ['variables[][value]=1', 'variables[0][key] is missing'],
    ['variables[][key][]=1', 'variables[0][key] is invalid'],
    [
      'variables[][value]=1&variables[][value]=2',
      'variables[0][key] is missing, variables[1][key] is missing',
    ],
    ['variables[key]=A', 'variables is invalid'],
    ['variables[]=A', 'variables is invalid'],
    ['variables[]={"key":"A"}&variables[]={"key":"B"}', { variables: [{ key: 'A' }, { key: 'B' }] }],
    ['variables=[{"key":"A"}]', { variables: [{ key: 'A' }] }],
    ['variables=[1', 'variables is invalid'],
    ['variables=', { variables: [] }],
    ['', {}],
  ])('%s', (query, expected) => expect(check(variables, parseQuery(query))).toEqual(expected))

  test('levels of a list of rules', () => {
    const schema = Fields({ allowed_to_push: ListOf(Fields({ access_level: OneOf(0, 30, 40, 60) })) })
    expect(check(schema, { allowed_to_push: [{ access_level: 40 }, { access_level: 41 }] })).toBe(
      'allowed_to_push[1][access_level] does not have a valid value',
    )
    expect(check(schema, { allowed_to_push: [null] })).toBe('allowed_to_push is invalid')
  })
})

describe('relations between parameters', () => {
  const schema = Fields({ a: Optional(Text()), b: Optional(Nullable(Text())), c: Optional(Int()) })

  test.each<[Parameters<typeof compileParams>[1], Record<string, unknown>, string | undefined]>([
    [{ mutuallyExclusive: [['a', 'b', 'c']] }, { a: 'x', c: 1 }, 'a, c are mutually exclusive'],
    [{ mutuallyExclusive: [['a', 'b']] }, { a: 'x', b: null }, 'a, b are mutually exclusive'],
    [{ mutuallyExclusive: [['a', 'b']] }, { a: 'x' }, undefined],
    [{ atLeastOneOf: [['a', 'b']] }, { c: 1 }, 'a, b are missing, at least one parameter must be provided'],
    [{ atLeastOneOf: [['a', 'b']] }, { b: null }, undefined],
    [{ exactlyOneOf: [['a', 'b']] }, {}, 'a, b are missing, exactly one parameter must be provided'],
    [{ exactlyOneOf: [['a', 'b']] }, { a: 'x', b: 'y' }, 'a, b are mutually exclusive'],
    [{ exactlyOneOf: [['a', 'b']] }, { b: 'y' }, undefined],
    [
      { exactlyOneOf: [['a', 'b']] },
      { c: 'x' },
      'c is invalid, a, b are missing, exactly one parameter must be provided',
    ],
  ])('%j with %j', (rules, bag, expected) =>
    expect(compileParams(schema, rules)(bag).faults?.join(', ')).toBe(expected),
  )

  test('within an element', () => {
    const inner = Fields({ u: Optional(Id()), g: Optional(Id()) }, { rules: { exactlyOneOf: [['u', 'g']] } })
    expect(check(Fields({ list: ListOf(inner) }), { list: [{ u: 1 }, { u: 1, g: 2 }, {}] })).toBe(
      'list[1][u], list[1][g] are mutually exclusive, ' +
        'list[2][u], list[2][g] are missing, exactly one parameter must be provided',
    )
  })
})

describe('any input', () => {
  const schema = Fields({
    text: Optional(Text()),
    int: Int({ default: 3 }),
    float: Optional(Nullable(Float())),
    flag: Optional(Flag()),
    at: Optional(DateTime()),
    day: Optional(Nullable(DateOnly())),
    sort: OneOf(['asc', 'desc'], { default: 'asc' }),
    list: Optional(ListOf(Text(), { commaSeparated: true })),
    ids: Optional(ListOf(Int(), { single: true })),
    hash: Optional(Hash(Either(Int(), Text()))),
    objects: Optional(ListOf(Fields({ key: Text(), value: Optional(Json()) }))),
  })
  const coerce = compileParams(schema)
  const likely = fc.constantFrom<unknown>(
    '',
    '1',
    'a,b',
    'true',
    '2026-02-03',
    'asc',
    null,
    0,
    1.5,
    [1],
    ['a'],
    { 0: '1' },
  )
  const value = fc.oneof(likely, fc.anything({ withDate: true, withNullPrototype: true, withBigInt: true }))
  const bags = fc.record(Object.fromEntries(Object.keys(schema.properties).map((key) => [key, value])), {
    requiredKeys: [],
  })

  test('is checked without a crash, and checked values pass unchanged', () => {
    fc.assert(
      fc.property(bags, (bag) => {
        const first = coerce(bag)
        if (first.value !== undefined) expect(coerce(first.value)).toEqual(first)
        else expect(first.faults.length).toBeGreaterThan(0)
      }),
      { numRuns: 3000 },
    )
  })
})
