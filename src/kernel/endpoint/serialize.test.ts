import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileAnswer } from './serialize.ts'
import {
  DateOnly,
  Either,
  Fields,
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
  Timestamp,
  type TSchema,
} from './types.ts'

const Pipeline = Fields({
  id: Id(),
  ref: Text(),
  coverage: Nullable(Float()),
  tag: Flag(),
  created_at: Timestamp(),
  finished_at: Nullable(Timestamp()),
  user: Nullable(Fields({ id: Id(), name: Text() })),
  name: Optional(Nullable(Text())),
})

describe('answers', () => {
  test('hold the declared keys in their order and nothing else', () => {
    const user = { secret: 's', name: 'Ida', id: 1 }
    const row = {
      tag: false,
      ref: 'main',
      token: 'secret',
      id: 5,
      coverage: 98.5,
      created_at: new Date(0),
      finished_at: null,
      user,
    }
    expect(compileAnswer(Pipeline)(row)).toBe(
      '{"id":5,"ref":"main","coverage":98.5,"tag":false,"created_at":"1970-01-01T00:00:00.000Z","finished_at":null,' +
        '"user":{"id":1,"name":"Ida"}}',
    )
  })

  test('a required key without a value is null, an optional one is left out', () => {
    expect(compileAnswer(Pipeline)({})).toBe(
      '{"id":null,"ref":null,"coverage":null,"tag":null,"created_at":null,"finished_at":null,"user":null}',
    )
    expect(compileAnswer(Fields({ name: Optional(Nullable(Text())) }))({ name: null })).toBe('{"name":null}')
  })

  test.each<[string, TSchema, unknown, string]>([
    ['ids the database gave as text', Id(), '9007199254740991', '9007199254740991'],
    ['bigint ids', Id(), 5n, '5'],
    ['database time', Timestamp(), '2026-02-03 09:41:07.512345+00', '"2026-02-03T09:41:07.512Z"'],
    ['an offset', Timestamp(), '2026-02-03T09:41:07+02:00', '"2026-02-03T07:41:07.000Z"'],
    ['a day', DateOnly(), '2026-02-03', '"2026-02-03"'],
    ['no day', Nullable(DateOnly()), null, 'null'],
    ['a choice', Nullable(OneOf('a', 'b')), null, 'null'],
    ['text to be escaped', Text(), '"\u2028\n\ud83d\udc33', '"\\"\u2028\\n🐳"'],
    ['an object where text is declared', Text(), { toString: () => 'x' }, '"x"'],
    ['a list', ListOf(Pipeline), [], '[]'],
    ['no list', Nullable(ListOf(Int())), null, 'null'],
    ['holes', ListOf(Text()), ['a', undefined, null], '["a",null,null]'],
    ['a hash', Hash(Int()), { a: '1', b: 2 }, '{"a":1,"b":2}'],
    ['any JSON', Json(), { a: [{ b: 1 }] }, '{"a":[{"b":1}]}'],
    ['nothing', Json(), undefined, 'null'],
    ['one of two scalars', Either(Int(), Text()), 'x', '"x"'],
    ['one of two objects', Either(Fields({ a: Int() }), Fields({ b: Int() })), { b: 1, c: 2 }, '{"b":1}'],
    [
      'objects told apart by a constant',
      Either(Fields({ type: OneOf('x'), a: Int() }), Fields({ type: OneOf('y'), a: Text() })),
      { type: 'y', a: 1 },
      '{"type":"y","a":"1"}',
    ],
    ['a number that is none', Float(), NaN, 'null'],
    ['an object that cannot be a number', Int(), { toString: null }, 'null'],
    ['an object that cannot be text', Text(), { toString: null }, 'null'],
    ['a list of what cannot be text', Text(), [[{ toString: false }]], 'null'],
  ])('%s', (_, schema, value, json) => expect(compileAnswer(schema)(value)).toBe(json))

  test('declared names are only ever names', () => {
    const name = '"]: globalThis.broken = true, ["\u2028`${1}'
    expect(JSON.parse(compileAnswer(Fields({ [name]: Int() }))({ [name]: 1 }))).toEqual({ [name]: 1 })
    expect(Reflect.has(globalThis, 'broken')).toBe(false)
  })

  test('whatever a handler gives, the answer is JSON of the declared keys', () => {
    const write = compileAnswer(Fields({ list: ListOf(Pipeline), any: Optional(Json()) }))
    const value = fc.oneof(
      fc.jsonValue(),
      fc.date({ noInvalidDate: false }),
      fc.constant(undefined),
      fc.bigInt(),
    )
    const row = fc.record(Object.fromEntries(Object.keys(Pipeline.properties).map((key) => [key, value])), {
      requiredKeys: [],
    })
    fc.assert(
      fc.property(fc.record({ list: fc.array(row), any: fc.jsonValue(), other: fc.string() }), (answer) => {
        const read = JSON.parse(write(answer)) as { list: object[] }
        expect(Object.keys(read)).toEqual(['list', 'any'])
        for (const entry of read.list) {
          expect(Object.keys(Pipeline.properties)).toEqual(expect.arrayContaining(Object.keys(entry)))
        }
      }),
    )
  })
})
