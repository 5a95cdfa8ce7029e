import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { Database, Notifications, sql } from '../../src/kernel/db/index.ts'
import { enqueue, enqueued, TaskWorker, type Task } from '../../src/tasks/index.ts'
import { copyDatabase } from './databases.ts'

const stack = new AsyncDisposableStack()
const log = pino({ level: 'silent' })
let db: Database
let notifications: Notifications
beforeAll(async () => {
  const { url } = stack.use(await copyDatabase(inject('postgres')))
  db = stack.use(new Database({ connection: { connectionString: url }, log }))
  notifications = stack.use(new Notifications(db.connection, log))
  await notifications.start()
})
afterAll(() => stack[Symbol.asyncDispose]())

const waiting = async (): Promise<number> => {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from graphile_worker.jobs`.execute(
    db.writer,
  )
  return rows[0]!.n
}

test('a task is given up after its attempts, and one that has no number of them is not', async () => {
  const runs: string[] = []
  const failing = (name: string, rest: object): Task => ({
    name,
    ...rest,
    run() {
      runs.push(name)
      return Promise.reject(new Error('it fails'))
    },
  })
  await using _ = await TaskWorker.start(
    { db, notifications, log },
    [failing('once', { attempts: 1 }), failing('again', {})],
    [],
  )
  for (const name of ['once', 'again']) await enqueue(db.writer, name, {})
  await expect.poll(() => runs.filter((name) => name === 'again').length).toBe(2)
  expect(runs.filter((name) => name === 'once')).toHaveLength(1)
  await expect.poll(waiting).toBe(1)
  await sql`delete from graphile_worker._private_jobs`.execute(db.writer)
})

test('many are put into the queue by one statement, and so are none', async () => {
  const ran: number[] = []
  const tasks: Task<{ n: number }>[] = ['odd', 'even'].map((name) => ({
    name,
    run({ n }) {
      ran.push(name === 'odd' ? n : -n)
      return Promise.resolve()
    },
  }))
  await using _ = await TaskWorker.start({ db, notifications, log }, tasks, [])
  const put = async (count: number): Promise<number> => {
    const source = sql`
      select case when n % 2 = 1 then 'odd' else 'even' end as name, json_build_object('n', n) as payload
      from generate_series(1, ${count}::int) n`
    const { rows } = await sql<{ n: number }>`
      select count(task)::int as n from ${enqueued(source)} added`.execute(db.writer)
    return rows[0]!.n
  }
  expect(await put(0)).toBe(0)
  expect(await put(50)).toBe(50)
  await expect.poll(() => ran.length).toBe(50)
  expect(ran.toSorted((a, b) => Math.abs(a) - Math.abs(b))).toEqual(
    Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? at + 1 : -at - 1)),
  )
  await expect.poll(waiting).toBe(0)
})

test('who has lost its connections goes on, and shows again that it lives', async () => {
  let runs = 0
  const task: Task = {
    name: 'counted',
    run() {
      runs += 1
      return Promise.resolve()
    },
  }
  await using _ = await TaskWorker.start({ db, notifications, log }, [task], [])
  const shown = async (): Promise<number> => {
    const { rows } = await sql<{ n: number }>`
      select count(*)::int as n from pg_locks l join pg_stat_activity a on a.pid = l.pid
      where l.locktype = 'advisory' and a.datname = current_database()`.execute(db.writer)
    return rows[0]!.n
  }
  expect(await shown()).toBe(1)
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name in ('guildhall-tasks', 'guildhall-listen')`.execute(
    db.writer,
  )
  await enqueue(db.writer, 'counted', {})
  await expect.poll(() => runs).toBe(1)
  await expect.poll(shown).toBe(1)
})
