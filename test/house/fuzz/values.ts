import type { TSchema } from '../../../src/kernel/endpoint/index.ts'

interface Schema {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  default?: unknown
  minimum?: number
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  additionalProperties?: Schema | boolean
}

function nested(depth: number, make: (inner: unknown) => unknown): unknown {
  return depth === 0 ? 'deep' : make(nested(depth - 1, make))
}

/** What nobody in their senses sends, as JSON can carry it. */
const hostileValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  '',
  ' ',
  '0',
  '-1',
  '99999999999999999999',
  'a\0b',
  '\ud800',
  'x'.repeat(10_000),
  'x'.repeat(300_000),
  '💥👩‍👩‍👧‍👦 ẞ',
  '\u202eoverride\u200b',
  "'; drop table users; --",
  "' or '1'='1",
  '%_\\',
  '$(touch /tmp/x)`id`; rm -rf / | cat && true',
  '../../../../etc/passwd',
  '/etc/passwd',
  '..%2f..%2f',
  '--upload-pack=touch',
  '-c',
  'refs/heads/../../x',
  'HEAD~1^{/x}:y',
  'a..b',
  '<script>alert(1)</script>',
  '{"a":1}',
  '[]',
  'null',
  '(a+)+$',
  '2026-13-45T99:99:99Z',
  '2026-02-03',
  '+275760-09-13',
  [],
  [null],
  [[]],
  [1, 'a', null, { a: [] }],
  Array.from({ length: 2000 }, (_, index) => index),
  {},
  { a: 1 },
  { id: null, access_level: [], user_id: {} },
  { constructor: { prototype: { x: 1 } }, toString: 'x' },
  [{ key: null, value: [] }],
  [{ key: 'A', value: 'b', access_level: 'x', user_id: -1, id: 0, _destroy: 'x' }],
  nested(31, (inner) => [inner]),
  nested(31, (inner) => ({ a: inner })),
  nested(40, (inner) => [inner]),
  nested(40, (inner) => ({ a: inner })),
]

/** Enough for what is coerced to a number, flag, date or choice before anybody else sees it. */
const forScalars: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  '',
  'a\0b',
  '99999999999999999999',
  '2026-13-45T99:99:99Z',
  '+275760-09-13',
  [],
  [[]],
  {},
]

/** What to send for a parameter of this schema. */
export function valuesFor(schema: TSchema): readonly unknown[] {
  const { type, format, enum: listed } = schema as Schema
  const kind = [type].flat().find((one) => one !== 'null')
  const scalar = kind === 'integer' || kind === 'number' || kind === 'boolean'
  return scalar || listed !== undefined || format !== undefined ? forScalars : hostileValues
}

/** As they stand in a path, still to be encoded. */
export const hostileSegments: readonly string[] = [
  '0',
  '-1',
  '1.5',
  '99999999999999999999',
  ' ',
  'x'.repeat(5000),
  '💥',
  "'; drop table users; --",
  '%_\\',
  '../../etc/passwd',
  '--upload-pack=touch',
  'a/../b',
  'refs/heads/main',
  'HEAD~1^{/x}:y',
  '*',
  'null',
  '[]',
  'a?b#c',
  'a;b',
  '.git',
]

/** In a path as they are: what no encoder would write. */
export const rawSegments: readonly string[] = [
  '%00',
  'a%00b',
  '%FF',
  '%C0%AF',
  '%',
  '%zz',
  '%25',
  '%2F',
  '.',
  '%2e%2e',
  '+',
]

/** Query strings for a parameter that a parser may stumble on. */
export function hostileQueries(name: string): string[] {
  return [
    name,
    `${name}=`,
    `${name}=%00`,
    `${name}=%FF%FE`,
    `${name}=%`,
    `${name}[]=`,
    `${name}[]=1&${name}=2`,
    `${name}=1&${name}[a]=2`,
    `${name}[a][b][][c]=1`,
    `${name}[`,
    `${name}]`,
    `${name}[]]=1`,
    `${name}[__proto__][x]=1`,
    `${name}[constructor]=1`,
    `${name}${'[a]'.repeat(40)}=1`,
    `${name}=${'9'.repeat(400)}`,
  ]
}

/** A value of the schema's type that a careful caller could send. */
export function sample(schema: TSchema, name: string): unknown {
  return sampleOf(schema, name)
}

function sampleOf(schema: Schema, name: string): unknown {
  const { type, format, anyOf, properties = {}, required = [] } = schema
  if (schema.enum !== undefined) return schema.enum[0]
  if (anyOf !== undefined) return sampleOf(anyOf[0]!, name)
  switch ([type].flat().find((one) => one !== 'null')) {
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return [sampleOf(schema.items ?? {}, name)]
    case 'object':
      return Object.fromEntries(required.map((key) => [key, sampleOf(properties[key]!, key)]))
    default:
      if (format === 'date-time') return '2030-01-01T00:00:00Z'
      if (format === 'date') return '2030-01-01'
      return /email/.test(name) ? 'somebody@example.com' : /ref|branch/.test(name) ? 'main' : `value_${name}`
  }
}
