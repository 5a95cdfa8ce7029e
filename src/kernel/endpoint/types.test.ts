import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, expectTypeOf, test } from 'vitest'
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
  Timestamp,
  type Static,
  type UploadedFile,
} from './types.ts'

const every = Fields(
  {
    id: Id({ description: 'The id' }),
    page: Int({ default: 1, except: [0] }),
    ratio: Optional(Float({ minimum: 0, maximum: 1 })),
    key: Text({ blank: false, maxLength: 255, pattern: '^\\w+$' }),
    raw: Flag({ default: false }),
    since: Optional(DateTime()),
    created_at: Timestamp(),
    due: Nullable(DateOnly()),
    sort: OneOf(['asc', 'desc'], { default: 'desc' }),
    level: Nullable(OneOf(0, 30, 40)),
    tags: ListOf(Text(), { commaSeparated: true, single: true }),
    labels: Optional(Hash(Text())),
    rules: ListOf(
      Fields(
        { user_id: Optional(Id()), group_id: Optional(Id()) },
        { rules: { exactlyOneOf: [['user_id', 'group_id']] } },
      ),
    ),
    owner: Nullable(Fields({ id: Id() })),
    target: Either(Int(), Text()),
    either: Nullable(Either(Int(), Text())),
    extra: Json(),
    file: Optional(File<string>()),
  },
  { description: 'All of them' },
)

describe('the words of declarations', () => {
  test('infer the type of the checked value', () => {
    expectTypeOf<Static<typeof every>>().toEqualTypeOf<{
      id: number
      page: number
      ratio?: number
      key: string
      raw: boolean
      since?: Date
      created_at: Date | string
      due: string | null
      sort: 'asc' | 'desc'
      level: 0 | 30 | 40 | null
      tags: string[]
      labels?: Record<string, string>
      rules: { user_id?: number; group_id?: number }[]
      owner: { id: number } | null
      target: number | string
      either: number | string | null
      extra: unknown
      file?: UploadedFile<string>
    }>()
  })

  test('are what OpenAPI 3.1 takes for a schema', async () => {
    const schema: unknown = JSON.parse(JSON.stringify(every))
    const result = await new Validator().validate({
      openapi: '3.1.0',
      info: { title: 'words', version: '1' },
      paths: {},
      components: { schemas: { every: schema } },
    })
    expect(result.errors ?? '').toBe('')
    expect(schema).toMatchObject({
      type: 'object',
      required: [
        'id',
        'page',
        'key',
        'raw',
        'created_at',
        'due',
        'sort',
        'level',
        'tags',
        'rules',
        'owner',
        'target',
        'either',
        'extra',
      ],
      properties: {
        due: { type: ['string', 'null'], format: 'date' },
        level: { type: ['integer', 'null'], enum: [0, 30, 40, null] },
        owner: { type: ['object', 'null'], required: ['id'] },
        either: { anyOf: [{ type: 'integer' }, { type: 'string' }, { type: 'null' }] },
      },
    })
  })

  test('optional goes outside', () => expect(() => Nullable(Optional(Int()))).toThrow(TypeError))
})
