import fc from 'fast-check'
import { sql, type RawBuilder } from 'kysely'
import { expect, inject, test } from 'vitest'
import { Database } from '../../src/kernel/db/index.ts'
import { createLogger } from '../../src/kernel/log/index.ts'

function open(lane: number): Database {
  const connection = { ...inject('postgres'), database: 'postgres' }
  return new Database({ connection, lane, log: createLogger('silent') })
}

/** With values of every kind that statements are given, and no, one or many rows. */
function echo(asked: {
  readonly number: number | null
  readonly text: string | null
  readonly flag: boolean
  readonly time: Date
  readonly bytes: Buffer
  readonly rows: number
}): RawBuilder<Record<string, unknown>> {
  return sql`
    select row, ${asked.number}::bigint as number, ${asked.text}::text as text, ${asked.flag}::boolean as flag,
      ${asked.time}::timestamptz as time, encode(${asked.bytes}::bytea, 'hex') as bytes
    from generate_series(1, 5) row where row <= ${asked.rows}::int order by row desc limit ${asked.rows}::int`
}

const anything = fc.record({
  number: fc.option(fc.integer()),
  text: fc.option(fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))),
  flag: fc.boolean(),
  time: fc.date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true }),
  bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  rows: fc.nat(5),
})

const where = sql<{ lane: string }>`select current_setting('application_name') as lane`

/** The lane opens in the background. */
async function opened(db: Database): Promise<void> {
  await expect.poll(() => db.rows(where, 'bounded')).toEqual([{ lane: 'guildhall-lane' }])
}

test('who asks with others gets what he would have got alone', async () => {
  await using db = open(1)
  await opened(db)
  const property = fc.asyncProperty(fc.array(anything, { minLength: 2, maxLength: 150 }), async (all) => {
    const alone = await Promise.all(all.map((each) => db.rows(echo(each))))
    const shared = await Promise.all(all.map((each) => db.rows(echo(each), 'bounded')))
    expect(shared).toEqual(alone)
  })
  await fc.assert(property, { numRuns: 30 })
})

test('the same statement with other values is sent once for all who ask in one turn', async () => {
  await using db = open(1)
  await opened(db)
  const ask = (number: number) =>
    db.rows(
      sql<{ n: number; at: string }>`select ${number}::int as n, statement_timestamp()::text as at`,
      'bounded',
    )
  await ask(0)
  const rows = (await Promise.all(Array.from({ length: 50 }, (_, number) => ask(number)))).flat()
  expect(rows.map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, number) => number))
  expect(new Set(rows.map(({ at }) => at)).size).toBe(1)
})

test('values that fail, fail for whoever gave them alone', async () => {
  await using db = open(1)
  await opened(db)
  const ask = (text: string) => db.rows(sql`select ${text}::text::int as n`, 'bounded')
  await ask('0')
  const answers = await Promise.allSettled(['1', '2', 'three', '4'].map(ask))
  expect(answers).toMatchObject([
    { value: [{ n: 1 }] },
    { value: [{ n: 2 }] },
    { status: 'rejected', reason: { code: '22P02' } },
    { value: [{ n: 4 }] },
  ])
})

test('a statement with an array among its values is asked by each', async () => {
  await using db = open(1)
  await opened(db)
  const ask = (values: number[]) => db.rows(sql`select cardinality(${values}::int[]) as n`, 'bounded')
  await ask([])
  expect((await Promise.all([[1], [1, 2], []].map(ask))).flat()).toEqual([{ n: 1 }, { n: 2 }, { n: 0 }])
})

test('what is asked while a connection of the lane breaks is answered, and the lane opens again', async () => {
  await using db = open(1)
  await opened(db)
  const [first] = await db.rows(sql<{ pid: number }>`select pg_backend_pid() as pid`, 'bounded')
  const ask = (number: number) =>
    db.rows(sql`select ${number}::int as n, pg_sleep(0.01)::text as slept`, 'bounded')
  await ask(0)
  const asked = Promise.all(Array.from({ length: 50 }, (_, number) => ask(number)))
  await db.rows(sql`select pg_terminate_backend(${first!.pid}::int)`)
  expect((await asked).flat().map((row) => (row as { n: number }).n)).toEqual(
    Array.from({ length: 50 }, (_, n) => n),
  )
  await opened(db)
})
