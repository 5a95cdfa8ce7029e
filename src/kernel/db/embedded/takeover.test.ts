// @module-tag long
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { chmod, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { chooseAccount, isRoot } from './account.ts'
import { openFolder } from './folder.ts'
import { isAlive, isPostmasterOf, serverProcessesIn, startTimeOf } from './process-table.ts'
import {
  giveTo,
  hasProc,
  hasSetpriv,
  isGoneWithin,
  killAndWait,
  query,
  queryPatiently,
  recordingLog,
  startOwner,
  startServerHere,
  temporaryFolder,
} from './testing/world.ts'

const settings = { fsync: 'off' }

/** A server whose owner was killed and which goes on; with one row in it. */
async function orphan(directory: string, orphanSettings: Record<string, string> = settings) {
  const owner = await startOwner({ directory, settings: orphanSettings }, { tied: false })
  expect(owner.error).toBeUndefined()
  await query(owner.connection!, 'CREATE TABLE kept AS SELECT 42 AS answer')
  await owner.kill()
  expect(isAlive(owner.pid!)).toBe(true)
  return { pid: owner.pid!, connection: owner.connection! }
}

test.runIf(hasSetpriv)('the server stops when its owner is killed, and runs without rights', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const owner = await startOwner({ directory, settings })
  expect(owner.error).toBeUndefined()
  const status = readFileSync(`/proc/${owner.pid}/status`, 'utf8')
  if (isRoot()) {
    const { uid, gid } = (await chooseAccount(join(directory, 'data')))!
    expect(status).toMatch(new RegExp(`^Uid:\\t${[uid, uid, uid, uid].join('\\t')}$`, 'm'))
    expect(status).toMatch(new RegExp(`^Gid:\\t${[gid, gid, gid, gid].join('\\t')}$`, 'm'))
    expect(status).toMatch(/^Groups:\s*$/m)
    expect(status).toMatch(/^CapPrm:\t0+$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
  }
  await owner.kill()
  expect(await isGoneWithin(owner.pid!, 10_000)).toBe(true)
  const server = await startServerHere(directory)
  expect(server.connection).toEqual(owner.connection)
})

test.runIf(hasSetpriv)('a start in the moment in which the server of a killed owner stops', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  for (const round of [1, 2, 3, 4]) {
    const owner = await startOwner({ directory, settings })
    expect(owner.error).toBeUndefined()
    await owner.kill()
    const server = await startServerHere(directory)
    expect(await queryPatiently(server.connection, `SELECT ${round} AS round`)).toEqual([{ round }])
    await server.stop()
  }
})

const modes = isRoot() && hasProc ? ['755', '700'] : ['755']
test.each(modes)(
  'a server left by a killed process is adopted, and stopped by its new owner: below a folder of mode %s',
  async (mode) => {
    const above = await temporaryFolder()
    await chmod(above, mode)
    const directory = join(above, 'postgres')
    const left = await orphan(directory)
    if (mode === '700') onTestFinished(() => rm(dirname(left.connection.host), { recursive: true }))
    const { log, lines } = recordingLog()
    const server = await startServerHere(directory, { log })
    expect(server.pid).toBe(left.pid)
    expect(server.connection).toEqual(left.connection)
    expect(lines.map(({ msg }) => msg)).toContain(
      `Going on with the PostgreSQL (process ${left.pid}) that an earlier process has left`,
    )
    expect(await query(server.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
    await server.stop()
    expect(isAlive(left.pid)).toBe(false)
  },
)

test('what the killed process had at work in it is ended', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const left = await orphan(directory)
  const client = new Client(left.connection)
  client.on('error', () => undefined)
  await client.connect()
  await client.query('BEGIN; LOCK TABLE kept IN ACCESS EXCLUSIVE MODE')
  const server = await startServerHere(directory)
  expect(server.pid).toBe(left.pid)
  expect(await query(server.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
  await client.end()
})

test('an adopted server that dies is started again', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const left = await orphan(directory)
  const server = await startServerHere(directory)
  expect(server.pid).toBe(left.pid)
  process.kill(left.pid, 'SIGKILL')
  expect(await isGoneWithin(left.pid, 5000)).toBe(true)
  expect(await queryPatiently(server.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
  await expect.poll(() => server.pid).not.toBe(left.pid)
})

test('a server left with other settings, or under another password, is replaced', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const first = await orphan(directory, { fsync: 'off', work_mem: '1MB' })
  const server = await startServerHere(directory)
  expect(server.pid).not.toBe(first.pid)
  expect(isAlive(first.pid)).toBe(false)
  expect(await query(server.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
  await query(server.connection, 'DROP TABLE kept')
  await server.stop()

  const second = await orphan(directory)
  await rm(join(directory, 'password'))
  const next = await startServerHere(directory)
  expect(next.pid).not.toBe(second.pid)
  expect(await query(next.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
})

test('a pid file whose process is dead', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const left = await orphan(directory)
  process.kill(left.pid, 'SIGKILL')
  expect(await isGoneWithin(left.pid, 5000)).toBe(true)
  expect(await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8')).toMatch(
    new RegExp(`^${left.pid}\n`),
  )
  const server = await startServerHere(directory)
  expect(await query(server.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
})

test('a pid file, and a socket’s lock, whose process id is another program’s by now', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const left = await orphan(directory)
  process.kill(left.pid, 'SIGKILL')
  expect(await isGoneWithin(left.pid, 5000)).toBe(true)
  // Of the server's own user, because PostgreSQL itself overlooks processes of others.
  const account = await chooseAccount(join(directory, 'data'))
  const strangers = []
  for (const file of [join('data', 'postmaster.pid'), join('socket', '.s.PGSQL.5432.lock')]) {
    const stranger = spawn('sleep', ['60'], account && { uid: account.uid, gid: account.gid })
    onTestFinished(() => killAndWait(stranger))
    strangers.push(stranger.pid!)
    const path = join(directory, file)
    const text = await readFile(path, 'utf8')
    await rm(path)
    await writeFile(path, text.replace(/^\d+/, String(stranger.pid)), { mode: 0o600 })
    if (account !== undefined) await giveTo(path, account)
  }
  const server = await startServerHere(directory)
  expect(await query(server.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
  expect(strangers.map(isAlive)).toEqual([true, true])
})

test('an empty pid file, as a full disk or a power cut leaves it', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  await (await startServerHere(directory)).stop()
  const file = join(directory, 'data', 'postmaster.pid')
  await writeFile(file, '')
  await chmod(file, 0o600)
  const account = await chooseAccount(join(directory, 'data'))
  if (account !== undefined) await giveTo(file, account)
  const server = await startServerHere(directory)
  expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test.runIf(hasProc)(
  'a server process that goes on without its postmaster is ended before the next start',
  async () => {
    const directory = join(await temporaryFolder(), 'postgres')
    const left = await orphan(directory)
    const client = new Client(left.connection)
    client.on('error', () => undefined)
    await client.connect()
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
    const [backend] = rows.map((row) => row.pid)
    // Busy, it does not look whether its postmaster lives.
    const busy = client
      .query(`DO 'DECLARE n bigint := 0; BEGIN LOOP n := n + 1; END LOOP; END'`)
      .catch(() => undefined)
    await expect
      .poll(() =>
        query(left.connection, `SELECT a.state FROM pg_stat_activity AS a WHERE a.pid = ${backend}`),
      )
      .toEqual([{ state: 'active' }])
    process.kill(left.pid, 'SIGKILL')
    expect(await isGoneWithin(left.pid, 5000)).toBe(true)
    expect(serverProcessesIn((await openFolder(directory)).data)).toContain(backend)

    const server = await startServerHere(directory)
    expect(isAlive(backend!)).toBe(false)
    expect(await query(server.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
    await busy
  },
)

test('what is known of processes', async () => {
  const sleeper = spawn('sleep', ['60'])
  onTestFinished(() => killAndWait(sleeper))
  expect(isAlive(sleeper.pid!)).toBe(true)
  expect(isPostmasterOf(sleeper.pid!, '/')).toBe(false)
  expect(isPostmasterOf(Number.NaN, '/')).toBe(false)
  if (hasProc) expect(startTimeOf(sleeper.pid!)).toMatch(/^\d+$/)
  await killAndWait(sleeper)
  expect(isAlive(sleeper.pid!)).toBe(false)
  expect(startTimeOf(sleeper.pid!)).toBeUndefined()
})

test.runIf(hasProc)('a zombie is not alive', async () => {
  // The shell becomes a program that never asks after its child; the child lives until then, lest the shell reaps it.
  const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'])
  onTestFinished(() => killAndWait(parent))
  const [chunk] = (await once(parent.stdout, 'data')) as [Buffer]
  const pid = Number(chunk.toString())
  await expect
    .poll(() => execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }))
    .toMatch(/^Z/)
  expect(() => process.kill(pid, 0)).not.toThrow()
  expect(isAlive(pid)).toBe(false)
})
