import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { compileTemplates } from './compile.ts'
import { Database } from './database.ts'
import { createLogger } from '../log/index.ts'

const log = createLogger('silent')

test.each([
  ['a text alone', sql`select 1`],
  ['values', sql`select ${1}, ${'a'}, ${null}, ${[1, 2]}, ${true}`],
  ['templates in templates', sql`select ${sql`(select ${1} from ${sql`t where x = ${2}`})`} and ${3}`],
  ['lists', sql`select ${sql.join([1, 2, sql`three`], sql` and `)}, ${sql.join(['a'])}`],
  ['a number in the text', sql`select 1 limit ${sql.lit(101)}`],
  ['a text in the text', sql`select ${sql.lit("it's")}, ${sql.lit('a\\b')}`],
  ['the text as it is', sql`select ${sql.raw('now()')}`],
  ['names of columns', sql`select ${sql.ref('p.name')}, ${sql.ref('na"me')}`],
])('%s: as Kysely compiles it', async (_, statement) => {
  await using db = new Database({ connection: {}, log })
  const { sql: text, parameters } = statement.compile(db.writer)
  expect(compileTemplates(statement)).toEqual({ text, values: parameters })
})

test.each([
  ['a name with a schema', sql`select ${sql.ref('a.b.c')}`],
  ['a name of something else', sql`select ${sql.id('a')}`],
  ['a fraction in the statement', sql`select ${sql.lit(1.5)}`],
])('%s is left to Kysely', (_, statement) => {
  expect(compileTemplates(statement)).toBeUndefined()
})
