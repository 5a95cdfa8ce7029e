import { Kysely, PostgresDialect, sql as kysely, type Sql } from 'kysely'
import fc from 'fast-check'
import pg from 'pg'
import { expect, test } from 'vitest'
import { compileTemplates } from './compile.ts'
import { sql } from './sql.ts'

/** Compiles, and is not connected. */
const database = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool() }) })

/** The same with Kysely's `sql` and ours. */
type Written = (sql: Sql) => ReturnType<Sql>

const statements: readonly (readonly [string, Written])[] = [
  ['a text alone', (sql) => sql`select 1`],
  ['values', (sql) => sql`select ${1}, ${'a'}, ${null}, ${[1, 2]}, ${true}, ${new Date(0)}`],
  [
    'templates in templates',
    (sql) => sql`select ${sql`(select ${1} from ${sql`t where x = ${2}`})`} and ${3}`,
  ],
  ['lists', (sql) => sql`select ${sql.join([1, 2, sql`three`], sql` and `)}, ${sql.join(['a'])}`],
  ['an empty list', (sql) => sql`select array[${sql.join([])}]::text[]`],
  ['a number in the text', (sql) => sql`select 1 limit ${sql.lit(101)}`],
  ['a text in the text', (sql) => sql`select ${sql.lit("it's")}, ${sql.lit('a\\b')}`],
  ['the text as it is', (sql) => sql`select ${sql.raw('now()')}`],
  ['names of tables', (sql) => sql`select from ${sql.table('t')}, ${sql.table('ta"ble')}`],
  ['names of columns', (sql) => sql`select ${sql.ref('p.name')}, ${sql.ref('na"me')}`],
]

test.each(statements)('%s: as Kysely compiles it', (_, write) => {
  const { sql: text, parameters } = write(kysely).compile(database)
  expect(compileTemplates(write(sql))).toEqual({ text, values: parameters })
  expect(write(sql).compile(database)).toMatchObject({ sql: text, parameters })
})

const odd: readonly (readonly [string, Written])[] = [
  ['a name with a schema', (sql) => sql`select ${sql.ref('a.b.c')}, ${1}`],
  ['a table in a schema', (sql) => sql`select from ${sql.table('s.t')} where ${1}`],
  ['a name of something else', (sql) => sql`select ${sql.id('a')}, ${1}`],
  ['a fraction in the statement', (sql) => sql`select ${sql.lit(1.5)}, ${1}`],
  ['a value that is put in by name', (sql) => sql`select ${sql.val(1)}`],
  ['a long list', (sql) => sql`select ${sql.join(Array(101).fill(1))}`],
  ['a query', (sql) => sql`select ${database.selectNoFrom(sql<number>`${1}`.as('one'))}`],
]

test.each(odd)('%s is left to Kysely', (_, write) => {
  expect(compileTemplates(write(sql))).toBeUndefined()
  const { sql: text, parameters } = write(kysely).compile(database)
  expect(write(sql).compile(database)).toMatchObject({ sql: text, parameters })
})

test('a statement that is made again has the very text of the first, with its own values', () => {
  const make = (name: string, limit: number, isFiltered: boolean) =>
    compileTemplates(
      sql`select * from t ${isFiltered ? sql`where name = ${name}` : sql``} limit ${sql.lit(limit)} offset ${limit}`,
    )!
  expect(make('a', 1, true)).toEqual({
    text: 'select * from t where name = $1 limit 1 offset $2',
    values: ['a', 1],
  })
  expect(make('b', 1, true).values).toEqual(['b', 1])
  expect(make('b', 2, true).text).toBe('select * from t where name = $1 limit 2 offset $2')
  expect(make('a', 1, false).text).toBe('select * from t  limit 1 offset $1')
})

test('a value is a value, also where it reads as a part of a statement that stood in its place', () => {
  const make = (part: unknown) => compileTemplates(sql`select ${part}`)!
  expect(make(sql.ref('t.c'))).toEqual({ text: 'select "t"."c"', values: [] })
  expect(make('"t"."c"')).toEqual({ text: 'select $1', values: ['"t"."c"'] })
})

/** Statements of the same few templates, put together at random. */
const anyStatement = fc.letrec<{ part: Written }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Written>(
      (sql) => sql`a`,
      (sql) => sql.ref('t.c'),
      (sql) => sql.lit(7),
    ),
    fc.anything({ maxDepth: 1 }).map(
      (value): Written =>
        (sql) =>
          sql`= ${typeof value === 'object' ? null : value}`,
    ),
    fc.tuple(tie('part'), tie('part')).map(
      ([one, other]): Written =>
        (sql) =>
          sql`(${one(sql)} or ${other(sql)})`,
    ),
    fc.array(tie('part'), { maxLength: 3 }).map(
      (list): Written =>
        (sql) =>
          sql.join(list.map((each) => each(sql))),
    ),
  ),
})).part

test('any statement: as Kysely compiles it', () => {
  fc.assert(
    fc.property(anyStatement, (write) => {
      const { sql: text, parameters } = write(kysely).compile(database)
      expect(compileTemplates(write(sql))).toEqual({ text, values: parameters })
    }),
  )
})
