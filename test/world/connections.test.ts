import { sql } from 'kysely'
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
