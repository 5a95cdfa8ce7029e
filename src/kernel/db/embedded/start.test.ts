// @module-tag long
import { chmod, lstat, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chooseAccount, isRoot } from './account.ts'
import { EmbeddedPostgresError } from './error.ts'
import { findRunningPostgres, keepData } from './index.ts'
import {
  giveTo,
  hasProc,
  isOpenCheckout,
  query,
  recordingLog,
  startServerHere,
  temporaryFolder,
} from './testing/world.ts'

test.runIf(isOpenCheckout)(
  'a first start makes a database that only its own password on a Unix socket opens',
  async () => {
    const directory = join(await temporaryFolder(), 'postgres')
    const { log, lines } = recordingLog()
    const server = await startServerHere(directory, { log, settings: {} })

    const [facts] = await query(
      server.connection,
      `SELECT current_database() AS database, current_user AS role, current_setting('listen_addresses') AS tcp,
            current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
            current_setting('timezone') AS timezone, current_setting('jit') AS jit,
            current_setting('max_connections') AS max_connections, current_setting('data_checksums') AS checksums,
            current_setting('unix_socket_permissions') AS socket_mode,
            d.datcollate AS collation, pg_encoding_to_char(d.encoding) AS encoding
       FROM pg_database AS d WHERE d.datname = current_database()`,
    )
    expect(facts).toEqual({
      database: 'guildhall',
      role: 'guildhall',
      tcp: '',
      fsync: 'on',
      synchronous_commit: 'on',
      timezone: 'UTC',
      jit: 'off',
      max_connections: '50',
      checksums: 'on',
      socket_mode: '0700',
      collation: 'C',
      encoding: 'UTF8',
    })
    const methods = await query<{ method: string }>(
      server.connection,
      'SELECT DISTINCT r.auth_method AS method FROM pg_hba_file_rules AS r',
    )
    expect(methods).toEqual([{ method: 'scram-sha-256' }])
    await expect(query({ ...server.connection, password: 'wrong' }, 'SELECT 1')).rejects.toThrow('password')

    expect((await stat(join(directory, 'password'))).mode & 0o777).toBe(0o600)
    expect((await stat(join(directory, 'data'))).mode & 0o777).toBe(0o700)
    expect((await stat(server.connection.host)).mode & 0o777).toBe(0o700)
    const account = await chooseAccount(join(directory, 'nothing'))
    expect((await stat(join(directory, 'data'))).uid).toBe(account?.uid ?? process.getuid?.())
    expect((await readdir(directory)).sort()).toEqual(['data', 'lock', 'lock-holder', 'password', 'socket'])
    expect(lines.filter((line) => line.level > 30)).toEqual([
      expect.objectContaining({ msg: expect.stringContaining('password') as string }),
    ])
  },
)

test.runIf(isOpenCheckout)(
  'new data begin as a copy of prepared ones, which only their own password opens, and which nobody else can read',
  async () => {
    const place = await temporaryFolder()
    const maker = await startServerHere(join(place, 'maker'))
    await query(maker.connection, 'CREATE TABLE made AS SELECT 42 AS answer')
    await maker.stop()
    const prepared = join(place, 'prepared')
    keepData(join(place, 'maker'), prepared)

    const directory = join(place, 'postgres')
    const { log, lines } = recordingLog()
    const server = await startServerHere(directory, { log, prepared, settings: {} })
    expect(await query(server.connection, 'SELECT m.answer FROM made AS m')).toEqual([{ answer: 42 }])
    const { password } = maker.connection
    expect(server.connection.password).not.toBe(password)
    await expect(query({ ...server.connection, password }, 'SELECT 1')).rejects.toThrow('password')
    expect(lines.filter(({ level }) => level > 30)).toEqual([
      expect.objectContaining({ msg: expect.stringContaining('password') as string }),
    ])

    const account = await chooseAccount(join(directory, 'nothing'))
    for (const file of ['.', 'PG_VERSION', 'base', 'global/pg_control']) {
      const { mode, uid } = await stat(join(directory, 'data', file))
      expect([file, mode & 0o077, uid]).toEqual([file, 0, account?.uid ?? process.getuid?.()])
    }
    expect((await readdir(directory)).sort()).toEqual(['data', 'lock', 'lock-holder', 'password', 'socket'])
  },
)

test.runIf(isRoot() && hasProc).each(['new', 'prepared'])(
  'below a folder that only root may enter, with %s data',
  async (kind) => {
    const place = await temporaryFolder()
    const maker = await startServerHere(join(place, 'maker'))
    await maker.stop()
    keepData(join(place, 'maker'), join(place, 'prepared'))
    const closed = join(place, 'closed')
    await mkdir(closed, { mode: 0o700 })

    const directory = join(closed, 'postgres')
    const settings = { full_page_writes: 'off' }
    const prepared = kind === 'new' ? {} : { prepared: join(place, 'prepared') }
    const first = await startServerHere(directory, { settings, ...prepared })
    onTestFinished(() => rm(dirname(first.connection.host), { recursive: true }))
    await query(first.connection, 'CREATE TABLE kept AS SELECT 42 AS answer')
    expect(await findRunningPostgres(directory)).toEqual(first.connection)
    await first.stop()
    await rm(join(directory, 'password'))
    const again = await startServerHere(directory, { settings })
    expect(await query(again.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
    expect(again.connection.password).not.toBe(first.connection.password)

    expect((await stat(closed)).mode & 0o777).toBe(0o700)
    expect((await stat(join(directory, 'data'))).mode & 0o777).toBe(0o700)
    expect((await stat(again.connection.host)).mode & 0o777).toBe(0o700)
  },
)

test('prepared data of another PostgreSQL are not used', async () => {
  const place = await temporaryFolder()
  const prepared = join(place, 'prepared')
  await mkdir(prepared)
  await writeFile(join(prepared, 'PG_VERSION'), '9.6\n')
  const server = await startServerHere(join(place, 'postgres'), { prepared })
  expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('a later start finds the same data under the same password, and leaves no process behind', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const first = await startServerHere(directory)
  await query(first.connection, 'CREATE TABLE kept AS SELECT 42 AS answer')
  await first.stop()
  expect(() => process.kill(first.pid, 0)).toThrow('ESRCH')

  const { log, lines } = recordingLog()
  const second = await startServerHere(directory, { log })
  expect(second.connection).toEqual(first.connection)
  expect(await query(second.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
  await second.stop()
  expect(lines.filter((line) => line.level > 30)).toEqual([])
})

test('a directory too long for a socket gets a short one elsewhere, which goes with the server', async () => {
  const directory = join(await temporaryFolder(), 'long'.repeat(25), 'postgres')
  const server = await startServerHere(directory)
  expect(server.connection.host.startsWith(directory)).toBe(false)
  const socket = join(server.connection.host, '.s.PGSQL.5432')
  expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(107)
  const account = await chooseAccount(join(directory, 'data'))
  const found = await lstat(server.connection.host)
  expect(found.mode & 0o777).toBe(0o700)
  expect(found.uid).toBe(account?.uid ?? process.getuid?.())
  expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  await server.stop()
  await expect(lstat(server.connection.host)).rejects.toThrow('ENOENT')

  const again = await startServerHere(directory)
  expect(again.connection.host).toBe(server.connection.host)
})

test.runIf(isOpenCheckout)('blanks, commas and quotes in the path do no harm', async () => {
  const directory = join(await temporaryFolder(), `a, "b" 'c' $d`, 'postgres')
  const server = await startServerHere(directory)
  expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})

test('settings of the caller are in force, those the supervisor relies on are refused', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const server = await startServerHere(directory, {
    settings: { fsync: 'off', shared_buffers: '16MB' },
    maxConnections: 7,
  })
  const [settings] = await query(
    server.connection,
    `SELECT current_setting('shared_buffers') AS buffers, current_setting('max_connections') AS connections`,
  )
  expect(settings).toEqual({ buffers: '16MB', connections: '7' })
  await server.stop()

  for (const name of ['listen_addresses', 'Port', 'data_directory', '--evil', 'fsync=off -c x']) {
    const start = startServerHere(directory, { settings: { [name]: '*' } })
    await expect(start).rejects.toThrow(`The setting "${name}" of the embedded database cannot be changed`)
  }
})

test('a setting PostgreSQL does not accept ends in one line with its reason', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const error = await startServerHere(directory, { settings: { shared_buffers: 'much' } }).catch(
    (e: unknown) => e,
  )
  expect(error).toBeInstanceOf(EmbeddedPostgresError)
  expect((error as Error).message).toMatch(/^The embedded database does not start: .*"shared_buffers".*$/)
})

test('a lost password is set anew; a wrong one is said', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const first = await startServerHere(directory)
  await query(first.connection, 'CREATE TABLE kept AS SELECT 42 AS answer')
  await first.stop()

  await rm(join(directory, 'password'))
  const second = await startServerHere(directory)
  expect(second.connection.password).not.toBe(first.connection.password)
  expect(await query(second.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
  expect((await readFile(join(directory, 'password'), 'utf8')).trim()).toBe(second.connection.password)
  await second.stop()

  await writeFile(join(directory, 'password'), 'another\n')
  await expect(startServerHere(directory)).rejects.toThrow(
    /does not accept the password in .*delete that file/,
  )
})

test.runIf(isRoot())(
  'data that belongs to root, as after a restored backup, is given to its user',
  async () => {
    const directory = join(await temporaryFolder(), 'postgres')
    const first = await startServerHere(directory)
    await query(first.connection, 'CREATE TABLE kept AS SELECT 42 AS answer')
    await first.stop()
    await giveTo(directory, { uid: 0, gid: 0 })
    const second = await startServerHere(directory)
    expect(await query(second.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
  },
)

test('a data folder open to others is closed again', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  await (await startServerHere(directory)).stop()
  await chmod(join(directory, 'data'), 0o777)
  await startServerHere(directory)
  expect((await stat(join(directory, 'data'))).mode & 0o777).toBe(0o700)
})

test('an empty data folder is filled', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  await mkdir(join(directory, 'data'), { recursive: true })
  await chmod(directory, 0o755)
  const server = await startServerHere(directory)
  expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
})
