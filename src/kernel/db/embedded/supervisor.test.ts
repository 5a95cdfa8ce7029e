// @module-tag long
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { EmbeddedPostgresError } from './error.ts'
import { openFolder } from './folder.ts'
import { foundPostmaster, stopPostmaster } from './postmaster.ts'
import { isAlive, serverProcessesIn } from './process-table.ts'
import { ServerLog } from './server-log.ts'
import {
  isGoneWithin,
  query,
  queryPatiently,
  recordingLog,
  startOwner,
  startServerHere,
  temporaryFolder,
} from './testing/world.ts'

test('a server that is killed comes back at the same place with its data', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const { log, lines } = recordingLog()
  const server = await startServerHere(directory, { log, settings: {} })
  const { pid, connection } = server
  await query(connection, 'CREATE TABLE kept AS SELECT 42 AS answer')
  process.kill(pid, 'SIGKILL')
  await isGoneWithin(pid, 5000)
  expect(await queryPatiently(connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
  expect(server.connection).toEqual(connection)
  await expect.poll(() => server.pid).not.toBe(pid)
  const told = lines.filter((line) => line.level >= 50).map((line) => line.msg)
  expect(told).toEqual(['PostgreSQL has ended unexpectedly (SIGKILL): starting it again'])
})

test('a server that dies again and again is given up, with one clear line', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const { log, lines } = recordingLog()
  const { promise: givenUp, resolve } = Promise.withResolvers<EmbeddedPostgresError>()
  const server = await startServerHere(directory, { log, onGiveUp: resolve })
  const control = join(directory, 'data', 'global', 'pg_control')
  await rename(control, `${control}.away`)
  process.kill(server.pid, 'SIGKILL')
  const error = await givenUp
  expect(error.message).toMatch(/^PostgreSQL has ended 6 times within 60 s and is given up: .*pg_control/)
  expect(lines.filter((line) => line.level === 60).map((line) => line.msg)).toEqual([error.message])
  await server.stop()

  await rename(`${control}.away`, control)
  const again = await startServerHere(directory)
  expect(await query(again.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('stop during a new start leaves no process', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const { data } = await openFolder(directory)
  // From the pause before it to the moment in which it is ready.
  for (const milliseconds of [0, 60, 110, 140, 170, 200, 230]) {
    const server = await startServerHere(directory)
    process.kill(server.pid, 'SIGKILL')
    await new Promise((settle) => setTimeout(settle, milliseconds))
    await server.stop()
    expect(isAlive(server.pid)).toBe(false)
    expect(serverProcessesIn(data)).toEqual([])
  }
})

test('stop may be called twice, and is what disposal does', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  let pid: number
  {
    await using server = await startServerHere(directory)
    pid = server.pid
  }
  expect(isAlive(pid)).toBe(false)
  const server = await startServerHere(directory)
  await Promise.all([server.stop(), server.stop()])
  await server.stop()
  expect(isAlive(server.pid)).toBe(false)
})

test('stop does not wait for open connections', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const server = await startServerHere(directory)
  const waiting = query(server.connection, 'SELECT pg_sleep(60)').catch((error: unknown) => error)
  await new Promise((settle) => setTimeout(settle, 100))
  const begin = performance.now()
  await server.stop()
  expect(performance.now() - begin).toBeLessThan(40_000)
  expect(await waiting).toBeInstanceOf(Error)
})

test('a server that does not listen is stopped by force', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const owner = await startOwner({ directory, settings: { fsync: 'off' } }, { tied: false })
  await owner.kill()
  const pid = owner.pid!
  process.kill(pid, 'SIGSTOP')
  const { log, lines } = recordingLog()
  await stopPostmaster(foundPostmaster(pid), log, { fast: 100, immediate: 100 })
  expect(isAlive(pid)).toBe(false)
  expect(lines.map((line) => line.msg)).toEqual([
    `PostgreSQL (process ${pid}) does not stop: sending SIGQUIT`,
    `PostgreSQL (process ${pid}) does not stop: sending SIGKILL`,
  ])
})

test('the process that owns the server can end without stopping it', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const owner = await startOwner({ directory, settings: { fsync: 'off' }, exit: true }, { tied: false })
  expect(await isGoneWithin(owner.pid!, 10_000)).toBe(true)
})

test('the server’s log: trouble at warn, noise at debug, statements nowhere', async () => {
  const { log, lines } = recordingLog()
  const serverLog = new ServerLog(log)
  const stream = new PassThrough()
  const end = serverLog.follow(stream)
  stream.end(
    [
      '00000 LOG:  database system is ready to accept connections',
      '23505 ERROR:  duplicate key value violates unique constraint "x"',
      '01000 WARNING:  database "guildhall" must be vacuumed within 1000 transactions',
      '00000 LOG:  client backend (PID 7) was terminated by signal 11: Segmentation fault',
      '57P01 FATAL:  terminating connection due to administrator command',
      '28P01 FATAL:  password authentication failed for user "x"',
      '58P01 PANIC:  could not write to file: No space left on device',
      'postgres: error while loading shared libraries: libx.so: cannot open',
      '',
    ].join('\n'),
  )
  await end
  expect(lines.map((line) => line.level)).toEqual([20, 20, 40, 40, 20, 40, 50, 40])
  expect(serverLog.lastWords()).toContain('libx.so')
})
