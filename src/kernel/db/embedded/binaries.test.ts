// @module-tag long
import { execFileSync } from 'node:child_process'
import { chmod, lstat, mkdir, readFile, readdir, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chooseAccount, isRoot } from './account.ts'
import { findBinaries, findDistribution, findPackage } from './binaries.ts'
import { openFolder } from './folder.ts'
import { repairSymlinks } from './package.ts'
import { chooseLauncher } from './process.ts'
import {
  copyPackageWithoutLinks,
  findOrdinaryUser,
  giveTo,
  listLinks,
  isOpenCheckout,
  query,
  recordingLog,
  startOwner,
  startServerHere,
  temporaryFolder,
} from './testing/world.ts'

async function here() {
  const place = await temporaryFolder()
  const folder = await openFolder(join(place, 'postgres'))
  const launcher = await chooseLauncher(await chooseAccount(folder.data))
  return { place, folder, launcher }
}

test('links that the installation has left out are set, once, by whoever comes first', async () => {
  const { place, folder, launcher } = await here()
  const packageFolder = join(place, 'package')
  await copyPackageWithoutLinks(packageFolder)
  const links = await listLinks(packageFolder)
  await symlink('nowhere', links[0]!)

  const repairs = await Promise.all([1, 2, 3].map(() => repairSymlinks(packageFolder)))
  expect(repairs).toEqual([true, true, true])
  for (const link of links) expect(await readlink(link)).not.toContain('/')
  const before = await lstat(links[1]!)
  expect(await repairSymlinks(packageFolder)).toBe(true)
  expect((await lstat(links[1]!)).ino).toBe(before.ino)

  const found = await findBinaries({ packageFolder, distribution: [] }, folder, launcher)
  expect(found).toEqual({
    bin: join(packageFolder, 'native', 'bin'),
    version: expect.stringMatching(/^\d+\.\d+$/) as string,
    major: found.version.split('.')[0],
  })
  expect(await readdir(folder.root)).not.toContain('binaries')
})

test('links that cannot be set are set in a copy, made once for a version', async ({ skip }) => {
  const user = findOrdinaryUser()
  if (isRoot() && user === undefined) skip('root may write anywhere')
  const place = await temporaryFolder()
  const packageFolder = join(place, 'package')
  await copyPackageWithoutLinks(packageFolder)
  for (const part of ['native/lib', 'native', '.']) await chmod(join(packageFolder, part), 0o555)
  onTestFinished(() => void execFileSync('chmod', ['-R', 'u+w', packageFolder]))
  const directory = join(place, 'postgres')
  await mkdir(join(directory, 'binaries', '1.0.0'), { recursive: true })
  await giveTo(directory, user)

  const owner = await startOwner({ directory, packageFolder }, { user })
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string
  }
  expect(owner.error).toBeUndefined()
  expect(owner.bin).toBe(join(directory, 'binaries', version, 'native', 'bin'))
  expect(await readdir(join(directory, 'binaries'))).toEqual([version])
  const made = (await lstat(join(directory, 'binaries', version))).ino

  await startOwner({ directory, packageFolder }, { user })
  expect((await lstat(join(directory, 'binaries', version))).ino).toBe(made)
})

test.runIf(isRoot())(
  'an installation closed to the user of the server is copied to where it is open',
  async () => {
    const { place, folder, launcher } = await here()
    const closed = join(place, 'closed')
    await mkdir(closed, { mode: 0o700 })
    const packageFolder = join(closed, 'package')
    await copyPackageWithoutLinks(packageFolder)
    execFileSync('chmod', ['-R', 'go=', packageFolder])

    const found = await findBinaries({ packageFolder, distribution: [] }, folder, launcher)
    expect(found.bin.startsWith(folder.binaries)).toBe(true)
    const server = await startServerHere(folder.root, { binaries: found.bin })
    expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  },
)

test.runIf(isRoot())('where no copy helps either, the closed folder is named', async () => {
  const { place, folder, launcher } = await here()
  const packageFolder = join(place, 'package')
  await copyPackageWithoutLinks(packageFolder)
  await chmod(place, 0o700)
  const search = findBinaries({ packageFolder, distribution: [] }, folder, launcher)
  await expect(search).rejects.toThrow(`chmod o+x ${place}`)
})

test.runIf(isOpenCheckout)(
  'POSTGRES_BIN comes first, and nothing else is tried when it is wrong',
  async () => {
    const { place, folder, launcher } = await here()
    const packageFolder = findPackage()!
    const bin = join(packageFolder, 'native', 'bin')
    const own = join(place, 'own')
    await symlink(bin, own)
    const found = await findBinaries({ configured: own, packageFolder, distribution: [] }, folder, launcher)
    expect(found.bin).toBe(own)
    const server = await startServerHere(folder.root, { binaries: own })
    expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])

    const wrong = findBinaries(
      { configured: join(place, 'wrong'), packageFolder, distribution: [] },
      folder,
      launcher,
    )
    await expect(wrong).rejects.toThrow(
      /^POSTGRES_BIN=\S+wrong has no PostgreSQL server that user \w+ can run \(/,
    )
  },
)

test('without a usable package the distribution’s server is taken: that of the data, else the newest', async () => {
  const { place, folder, launcher } = await here()
  const fake = async (version: string) => {
    const bin = join(place, 'postgresql', version, 'bin')
    await mkdir(bin, { recursive: true })
    for (const name of ['postgres', 'initdb']) {
      await writeFile(join(bin, name), `#!/bin/sh\necho "postgres (PostgreSQL) ${version}.3 (Debian)"\n`)
      await chmod(join(bin, name), 0o755)
    }
    return bin
  }
  const [nine, fifteen] = [await fake('9'), await fake('15')]
  await mkdir(join(place, 'postgresql', '17', 'bin'), { recursive: true })
  const distribution = findDistribution([join(place, 'postgresql/*/bin')])
  expect(distribution.sort()).toEqual([fifteen, nine].sort())

  const broken = join(place, 'broken')
  await mkdir(broken)
  for (const packageFolder of [undefined, broken]) {
    const sources = { packageFolder, distribution }
    expect(await findBinaries(sources, folder, launcher)).toEqual({
      bin: fifteen,
      version: '15.3',
      major: '15',
    })
    expect((await findBinaries(sources, folder, launcher, '9')).bin).toBe(nine)
    expect((await findBinaries(sources, folder, launcher, '14')).bin).toBe(fifteen)
  }
})

test.runIf(findDistribution().length > 0)('a distribution’s server works as well', async () => {
  const directory = join(await temporaryFolder(), 'postgres')
  const { log, lines } = recordingLog()
  const server = await startServerHere(directory, { binaries: findDistribution()[0]!, log })
  expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  await server.stop()
  expect(lines.filter((line) => line.level > 30)).toEqual([])
  // Of another major version than the package: whose data it is, is named, and where the server for it stands.
  const found = await startServerHere(directory).catch((error: unknown) => error)
  if (found instanceof Error) expect(found.message).toContain(`POSTGRES_BIN=${findDistribution()[0]!})`)
})

test('without any server the ways to get one are named', async () => {
  const { place, folder, launcher } = await here()
  const none = findBinaries({ packageFolder: undefined, distribution: [] }, folder, launcher)
  await expect(none).rejects.toThrow(
    /its npm package is not installed.*"npm ci".*POSTGRES_BIN or DATABASE_URL/,
  )
  const packageFolder = join(place, 'package')
  await copyPackageWithoutLinks(packageFolder)
  await rm(join(packageFolder, 'native', 'pg-symlinks.json'))
  const broken = findBinaries({ packageFolder, distribution: [] }, folder, launcher)
  await expect(broken).rejects.toThrow(/error while loading shared libraries/)
})

test('the package is that of the platform', () => {
  expect(findPackage()).toContain(`${process.platform}-${process.arch}`)
  expect(findPackage('plan9', 'x64')).toBeUndefined()
})
