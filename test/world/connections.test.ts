import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, inject, test } from 'vitest'
import { Database } from '../../src/kernel/db/index.ts'
import { createLogger } from '../../src/kernel/log/index.ts'

test('statements are not compiled to machine code, and options of the connection hold', async () => {
  const connection = { ...inject('postgres'), database: 'postgres', options: '-c work_mem=5MB' }
  await using db = new Database({ connection, lane: 1, log: createLogger('silent') })
  const asked = sql`select current_setting('jit') as jit, current_setting('work_mem') as work_mem`
  const held = [{ jit: 'off', work_mem: '5MB' }]
  expect(await db.rows(asked)).toEqual(held)
  expect(await db.rows(asked, 'bounded')).toEqual(held)
  expect((await asked.execute(db.slow)).rows).toEqual(held)
})

test('who asks for a second connection inside a transaction is told of, and nobody else', async () => {
  const connection = { ...inject('postgres'), database: 'postgres' }
  const logged: string[] = []
  const log = pino({ level: 'error' }, { write: (line: string) => void logged.push(line) })
  await using db = new Database({ connection, lane: 1, log })
  const asked = sql`select 1`
  let later: Promise<unknown> | undefined
  await db.transaction(async (tx) => {
    await asked.execute(tx)
    later = new Promise((done) => setTimeout(done, 100)).then(() => asked.execute(db.reader))
  })
  await later
  expect(logged).toEqual([])

  await db.transaction(() => asked.execute(db.reader))
  await db.transaction(() => db.rows(asked, 'bounded'))
  await db.transaction(() => db.transaction((tx) => asked.execute(tx)))
  const told: unknown = expect.stringContaining('a transaction asks for a second connection')
  expect(logged).toEqual([told, told, told])
})
