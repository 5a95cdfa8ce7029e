// @module-tag long
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { chmod, mkdir, readFile, readdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chooseAccount, isRoot } from './account.ts'
import { findPackage } from './binaries.ts'
import { EmbeddedPostgresError } from './error.ts'
import { openFolder, prepareSocketFolder } from './folder.ts'
import {
  findOrdinaryUser,
  giveTo,
  killAndWait,
  launchOwner,
  isOpenCheckout,
  query,
  startOwner,
  startServerHere,
  temporaryFolder,
} from './testing/world.ts'
import { waitUntil } from './postmaster.ts'

async function refusal(directory: string): Promise<string> {
  const error = await startServerHere(directory).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(EmbeddedPostgresError)
  const { message } = error as Error
  expect(message).not.toContain('\n')
  return message
}

test('data of another major version is refused, naming both and the way out', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  await (await startServerHere(directory)).stop()
  const versionFile = join(directory, 'data', 'PG_VERSION')
  const version = (await readFile(versionFile, 'utf8')).trim()
  await writeFile(versionFile, '9\n')
  const message = await refusal(directory)
  expect(message).toContain(`was written by PostgreSQL 9, but this is PostgreSQL ${version}`)
  expect(message).toContain('POSTGRES_BIN')
  await writeFile(versionFile, `${version}\n`)
  await startServerHere(directory)
})

test('a data folder with something else in it is refused and left alone', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  await mkdir(join(directory, 'data'), { recursive: true })
  await writeFile(join(directory, 'data', 'thesis.txt'), 'years of work')
  expect(await refusal(directory)).toMatch(
    /holds something that is not a PostgreSQL database .*: move it away/,
  )
  expect(await readFile(join(directory, 'data', 'thesis.txt'), 'utf8')).toBe('years of work')
})

test.runIf(isOpenCheckout)('a first start that was killed half-way is done again', async () => {
  const parent = await temporaryFolder()
  const directory = join(parent, 'postgres')
  const owner = launchOwner({ directory, settings: { fsync: 'off' } })
  const isUnderWay = () =>
    readdirSync(parent, { recursive: true }).some((name) => String(name).includes('unfinished-'))
  expect(await waitUntil(isUnderWay, 10_000)).toBe(true)
  await new Promise((settle) => setTimeout(settle, 150))
  await killAndWait(owner)
  expect((await readdir(directory)).filter((name) => name.startsWith('unfinished-'))).toHaveLength(1)
  expect(await readdir(directory)).not.toContain('data')

  const server = await startServerHere(directory)
  expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  expect((await readdir(directory)).filter((name) => name.startsWith('unfinished-'))).toEqual([])
})

test('what a failed initdb leaves is removed, a finished cluster beside it is not', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const first = await startServerHere(directory)
  await query(first.connection, 'CREATE TABLE kept AS SELECT 42 AS answer')
  await first.stop()
  await mkdir(join(directory, 'unfinished-abc', 'data'), { recursive: true })
  await writeFile(join(directory, 'unfinished-abc', 'data', 'PG_VERSION'), '18\n')
  const second = await startServerHere(directory)
  expect(await query(second.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
})

test('a damaged cluster is refused with what PostgreSQL says of it', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  await (await startServerHere(directory)).stop()
  const control = join(directory, 'data', 'global', 'pg_control')
  await rename(control, `${control}.away`)
  expect(await refusal(directory)).toMatch(/^The embedded database does not start: .*pg_control/)
  await rename(`${control}.away`, control)
  await startServerHere(directory)
})

test('a file where the folder should be', async () => {
  const file = join(await temporaryFolder(), 'file')
  await writeFile(file, '')
  expect(await refusal(file)).toContain(`cannot use ${file}: a file stands where a folder must be`)
  expect(await refusal(join(file, 'postgres'))).toContain('a part of this path is a file')
})

test('a folder the ordinary user may not write to', async ({ skip }) => {
  const user = findOrdinaryUser()
  if (isRoot() && user === undefined) skip('root may write anywhere')
  const parent = await temporaryFolder()
  const directory = join(parent, 'postgres')
  await mkdir(directory)
  await chmod(directory, 0o555)
  const { error } = await startOwner({ directory }, { user })
  expect(error).toMatch(/^EmbeddedPostgresError: The embedded database cannot write to .*chown -R \w+ /)
  await chmod(directory, 0o755)
})

test.runIf(isRoot())('data of another user is refused to an ordinary one', async ({ skip }) => {
  const user = findOrdinaryUser() ?? skip()
  const directory = join(await temporaryFolder(), 'postgres')
  await (await startServerHere(directory)).stop()
  await giveTo(directory, user)
  await giveTo(join(directory, 'data'), { uid: 1, gid: 1 })
  const { error } = await startOwner({ directory }, { user })
  expect(error).toMatch(/^EmbeddedPostgresError: .*(permission denied|belongs to user 1)/)
})

test.runIf(isOpenCheckout)('a full disk', async ({ skip }) => {
  const mount = join(await temporaryFolder(), 'small')
  await mkdir(mount)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=755', 'none', mount], { stdio: 'ignore' })
  } catch {
    skip('only root can make a small disk')
  }
  onTestFinished(() => void execFileSync('umount', ['-l', mount]))
  expect(await refusal(join(mount, 'postgres'))).toMatch(
    /the disk \(or \/dev\/shm\) is full; free some space/,
  )
  expect(await readdir(join(mount, 'postgres'))).not.toContain('data')
})

test('a read-only file system', async ({ skip }) => {
  const mount = join(await temporaryFolder(), 'readonly')
  await mkdir(mount)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'none', mount], { stdio: 'ignore' })
  } catch {
    skip('only root can mount')
  }
  onTestFinished(() => void execFileSync('umount', ['-l', mount]))
  expect(await refusal(join(mount, 'postgres'))).toContain('the file system is read-only')
})

test('something else under the name of the short socket folder', async () => {
  const temporary = await temporaryFolder()
  const folder = await openFolder(join(temporary, 'x'.repeat(90)))
  const path = await prepareSocketFolder(folder, undefined, [temporary])
  await rename(path, `${path}-away`)
  await symlink('/etc', path)
  await expect(prepareSocketFolder(folder, undefined, [temporary])).rejects.toThrow(
    'belongs to somebody else',
  )
  if (isRoot()) {
    const stranger = { uid: 12345, gid: 12345 }
    await rename(`${path}-away`, `${path}-other`)
    await giveTo(`${path}-other`, stranger)
    await rename(path, `${path}-link`)
    await rename(`${path}-other`, path)
    await expect(prepareSocketFolder(folder, undefined, [temporary])).rejects.toThrow(
      '(user 12345): remove it',
    )
  }
  await expect(prepareSocketFolder(folder, undefined, [join(temporary, 'x'.repeat(90))])).rejects.toThrow(
    'too long',
  )
})

test.runIf(isRoot())(
  'the account is the data’s owner, else postgres, else nobody, and never root',
  async () => {
    const place = await temporaryFolder()
    const passwd = join(place, 'passwd')
    const nobody =
      'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\nalice:x:1000:1001::/:/bin/sh\n'
    await writeFile(passwd, nobody)
    expect(await chooseAccount(join(place, 'none'), passwd)).toEqual({
      name: 'nobody',
      uid: 65534,
      gid: 65533,
    })
    await writeFile(passwd, `${nobody}postgres:x:101:104::/:/bin/bash\n`)
    expect(await chooseAccount(join(place, 'none'), passwd)).toEqual({ name: 'postgres', uid: 101, gid: 104 })
    expect(await chooseAccount(place, passwd)).toEqual({ name: 'postgres', uid: 101, gid: 104 })
    await giveTo(place, { uid: 1000, gid: 7 })
    expect(await chooseAccount(place, passwd)).toEqual({ name: 'alice', uid: 1000, gid: 1001 })
    await giveTo(place, { uid: 4242, gid: 7 })
    expect(await chooseAccount(place, passwd)).toEqual({ name: '4242', uid: 4242, gid: 7 })
    await writeFile(passwd, 'root:x:0:0::/root:/bin/sh\n')
    await expect(chooseAccount(join(place, 'none'), passwd)).rejects.toThrow('useradd --system postgres')
  },
)

test.runIf(isRoot())(
  'an ordinary user runs the server as itself, and root goes on with it as that user',
  async ({ skip }) => {
    const user = findOrdinaryUser() ?? skip()
    const parent = await temporaryFolder()
    await giveTo(parent, user)
    const directory = join(parent, 'postgres')
    const owner = await startOwner({ directory }, { user })
    expect(owner.error).toBeUndefined()
    expect(execFileSync('ps', ['-o', 'uid=', '-p', String(owner.pid)], { encoding: 'utf8' }).trim()).toBe(
      `${user.uid}`,
    )
    await query(owner.connection!, 'CREATE TABLE kept AS SELECT 42 AS answer')
    owner.process.kill('SIGTERM')
    await waitUntil(() => owner.process.exitCode !== null, 10_000)

    const asRoot = await startServerHere(directory)
    expect(await query(asRoot.connection, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
    await asRoot.stop()

    const again = await startOwner({ directory }, { user })
    expect(again.error).toBeUndefined()
    expect(await query(again.connection!, 'SELECT k.answer FROM kept AS k')).toEqual([{ answer: 42 }])
    expect(findPackage()).toBeDefined()
  },
)
