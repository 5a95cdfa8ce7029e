import { chmodSync, cpSync, lchownSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { run, type Finished, type Launcher } from './process.ts'

/** Keeps the data of a stopped server, whose folder this is, where any user of this machine can read it. */
export function keepData(directory: string, prepared: string): void {
  cpSync(join(directory, 'data'), prepared, { recursive: true })
  give(prepared, { folder: 0o755, file: 0o644 })
}

/** Whether this server can read the data. */
export async function isReadableBy(binaries: Binaries, prepared: string): Promise<boolean> {
  const version = await readFile(join(prepared, 'PG_VERSION'), 'utf8').catch(() => undefined)
  return version?.trim() === binaries.major
}

/** Fills the folder of new data with a copy; by another process, since it is the file system that takes its time. */
export async function copyPrepared(
  prepared: string,
  data: string,
  { account, tied }: Launcher,
): Promise<Finished> {
  const copying = [
    '--eval',
    `fs.cpSync(process.argv[1], process.argv[2], { recursive: true })`,
    prepared,
    data,
  ]
  const copied = await run({ account: undefined, tied }, process.execPath, copying)
  if (copied.code === 0) give(data, { folder: 0o700, file: 0o600 }, account)
  return copied
}

function give(top: string, mode: { folder: number; file: number }, account?: Account): void {
  const entries = readdirSync(top, { recursive: true, withFileTypes: true })
  const paths = entries.map((entry) => ({
    path: join(entry.parentPath, entry.name),
    isFolder: entry.isDirectory(),
  }))
  for (const { path, isFolder } of [{ path: top, isFolder: true }, ...paths]) {
    chmodSync(path, isFolder ? mode.folder : mode.file)
    if (account !== undefined) lchownSync(path, account.uid, account.gid)
  }
}
