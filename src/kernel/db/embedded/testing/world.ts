import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { chmod, chown, cp, lstat, mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client } from 'pg'
import { pino, type Logger } from 'pino'
import { onTestFinished } from 'vitest'
import { isRoot } from '../account.ts'
import { findPackage } from '../binaries.ts'
import type { Connection } from '../database.ts'
import { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from '../index.ts'
import { signalProcess, waitUntil } from '../postmaster.ts'
import { isAlive } from '../process-table.ts'

/** What the tests of this folder share: places and processes that are gone when the test is over. */

/** A folder that other users may pass through. */
export async function temporaryFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'guildhall-test-'))
  await chmod(path, 0o755)
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

export interface LogLine {
  level: number
  msg: string
}

export function recordingLog(): { log: Logger; lines: LogLine[] } {
  const lines: LogLine[] = []
  return {
    lines,
    log: pino({ level: 'debug' }, { write: (text) => lines.push(JSON.parse(text) as LogLine) }),
  }
}

/** Starts a server that is stopped when the test is over. The disk is not waited for, unless a test says so. */
export async function startServerHere(
  directory: string,
  options: Partial<EmbeddedPostgresOptions> = {},
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    directory,
    log: pino({ level: 'silent' }),
    settings: { fsync: 'off' },
    ...options,
  })
  onTestFinished(() => server.stop())
  return server
}

export async function query<Row extends object>(connection: Connection, sql: string): Promise<Row[]> {
  const client = new Client({ ...connection })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

/** Asks again until the server answers, as a pool does. */
export async function queryPatiently<Row extends object>(
  connection: Connection,
  sql: string,
): Promise<Row[]> {
  const end = performance.now() + 15_000
  for (;;) {
    try {
      return await query<Row>(connection, sql)
    } catch (error) {
      if (performance.now() > end) throw error
      await new Promise((settle) => setTimeout(settle, 20))
    }
  }
}

export async function isGoneWithin(pid: number, milliseconds: number): Promise<boolean> {
  return await waitUntil(() => !isAlive(pid), milliseconds)
}

export interface OwnerOptions {
  directory: string
  settings?: Record<string, string>
  /** Only looks for the binaries, in this package. */
  packageFolder?: string
  /** Ends of itself when it has reported, without stopping the server. */
  exit?: boolean
}

export interface OwnerReport {
  pid?: number
  connection?: Connection
  bin?: string
  error?: string
}

export interface Owner extends OwnerReport {
  process: ChildProcess
  /** SIGKILL, as an out-of-memory killer does. */
  kill: () => Promise<void>
}

interface Who {
  user?: Identity | undefined
  /** Without setpriv in its reach, the server outlives its owner. */
  tied?: boolean
}

/** Starts a server in a process of its own, and waits for its report. */
export async function startOwner(options: OwnerOptions, who: Who = {}): Promise<Owner> {
  const child = launchOwner(options, who)
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
  const report = JSON.parse(line) as OwnerReport
  // Whatever the test did: the server must not outlive it.
  onTestFinished(() => signalProcess(report.pid ?? -1, 'SIGQUIT'))
  return { ...report, process: child, kill: () => killAndWait(child) }
}

export function launchOwner(options: OwnerOptions, { user, tied = true }: Who = {}): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'owner.ts'), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    env: { PATH: tied ? process.env['PATH'] : '/nonexistent', TMPDIR: tmpdir() },
    ...user,
  })
  onTestFinished(() => killAndWait(child))
  return child
}

export async function killAndWait(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
}

export interface Identity {
  uid: number
  gid: number
}

/** Somebody without rights, when we are root and may become them, and they can reach what they need. */
export function findOrdinaryUser(): Identity | undefined {
  if (!isRoot()) return undefined
  try {
    const [uid, gid] = ['-u', '-g'].map((option) => Number(execFileSync('id', [option, 'nobody'])))
    const needed = [process.execPath, import.meta.filename, findPackage() ?? '/nonexistent']
    if (uid === undefined || gid === undefined || !needed.every(isOpenToAll)) return undefined
    return { uid, gid }
  } catch {
    return undefined
  }
}

function isOpenToAll(path: string): boolean {
  if (!existsSync(path)) return false
  for (let at = dirname(path); dirname(at) !== at; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
  }
  return (statSync(path).mode & 0o004) !== 0
}

/** What some tests look at is otherwise where root has checked out what others may not read: binaries are copied. */
export const isOpenCheckout = !isRoot() || isOpenToAll(findPackage() ?? '/nonexistent')

export async function giveTo(path: string, user: Identity | undefined): Promise<void> {
  if (user === undefined) return
  if ((await lstat(path)).isDirectory())
    for (const name of await readdir(path)) await giveTo(join(path, name), user)
  await chown(path, user.uid, user.gid)
}

/** A copy of the npm package as it comes out of the registry: without its symbolic links. */
export async function copyPackageWithoutLinks(target: string): Promise<void> {
  const source = findPackage()!
  await cp(source, target, { recursive: true, verbatimSymlinks: true })
  for (const link of await listLinks(target)) await rm(link, { force: true })
}

export async function listLinks(packageFolder: string): Promise<string[]> {
  const list = await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8')
  return (JSON.parse(list) as { target: string }[]).map(({ target }) => join(packageFolder, target))
}

export const hasProc = existsSync('/proc/self/cmdline')

export const hasSetpriv = (() => {
  try {
    return execFileSync('setpriv', ['--pdeathsig', 'INT', 'setpriv', '--version']).includes('util-linux')
  } catch {
    return false
  }
})()
