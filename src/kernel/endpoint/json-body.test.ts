import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../errors/index.ts'
import { parseJson } from './json-body.ts'

function outcome(body: Buffer | string): unknown {
  try {
    return parseJson(body)
  } catch (error) {
    if (error instanceof ApiError) return error.body
    throw error
  }
}

const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

describe('JSON bodies', () => {
  test.each<[string | Buffer, unknown]>([
    ['', {}],
    [' \n', {}],
    ['{}', {}],
    ['null', {}],
    ['{"a":1,"a":2}', { a: 2 }],
    ['\ufeff{"a":1}', { a: 1 }],
    [Buffer.from('{"a":"größe 🐳","b":[1,null,true]}'), { a: 'größe 🐳', b: [1, null, true] }],
    ['{"a":"\\ud83d\\udc33 \\\\u0000 \\" ,,[[{"}', { a: '🐳 \\u0000 " ,,[[{' }],
    ['{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}', { a: '['.repeat(40) }],
  ])('%s', (body, value) => expect(outcome(body)).toEqual(value))

  test.each<[string | Buffer, string]>([
    ['{', 'Invalid JSON format'],
    ['[]', 'Invalid JSON format'],
    ['1', 'Invalid JSON format'],
    ['"a"', 'Invalid JSON format'],
    ["{'a':1}", 'Invalid JSON format'],
    ['{"a":"', 'Invalid JSON format'],
    ['{"a":"\\', 'Invalid JSON format'],
    ['{"a":1}}]', 'Invalid JSON format'],
    ['{"a":"\0"}', 'Invalid JSON format'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'Invalid JSON format'],
    ['{"\\u0000":1}', 'Invalid JSON format'],
    ['{"a":"x\\u0000"}', 'a is invalid'],
    ['{"a":[{"b":"\\ud800"}]}', 'a is invalid'],
    [nested(33), 'Parameters nested too deeply'],
    ['{"a":'.repeat(1_000_000), 'Parameters nested too deeply'],
    [`{"a":[${'1,'.repeat(50_000)}1]}`, 'Array parameter too large'],
    [`{${Array.from({ length: 50_001 }, (_, index) => `"${index}":1`).join()}}`, 'Hash parameter too large'],
    [`{"a":[${'[1,1],'.repeat(40_000)}1]}`, 'Too many total parameters'],
  ])('%.60s is refused', (body, error) => expect(outcome(body)).toEqual({ error }))

  test.each([nested(32), `{"a":[${'1,'.repeat(49_999)}1]}`])('%.60s is within the limits', (body) =>
    expect(outcome(body)).toEqual(JSON.parse(body)),
  )

  test.each(['{"__proto__":{"admin":true}}', '{"a":{"\\u005f_proto__":{"admin":true}}}'])(
    '%s does no harm',
    (body) => {
      const bag = parseJson(body)
      expect(JSON.stringify(bag)).not.toContain('admin')
      expect(Reflect.get(bag, 'admin')).toBeUndefined()
    },
  )

  test('strings full of backslashes are read in linear time', () => {
    const start = performance.now()
    outcome(`{"a":"${'\\\\'.repeat(1_000_000)}","b":"${'\\"'.repeat(1_000_000)}"}`)
    expect(performance.now() - start).toBeLessThan(20_000)
  })

  test('any object that JSON can hold comes back the same', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' })),
        (object) => {
          const text = JSON.stringify(object)
          const answer = outcome(text)
          if (!text.includes('\\u0000') && !text.includes('__proto__'))
            expect(answer).toEqual(JSON.parse(text))
        },
      ),
    )
  })

  test('any text parses or is refused as the API refuses', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ',',
      ':',
      '1',
      'a',
      '"a"',
      '\\u0000',
      '\\ud800',
      'null',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(piece, { maxLength: 60 }).map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(text, (body) => void outcome(body)),
      { numRuns: 3000 },
    )
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void outcome(Buffer.from(bytes))))
  })
})
