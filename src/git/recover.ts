import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { keepReason, quarantinePrefix } from './quarantine.ts'
import type { Workplace } from './run.ts'

export interface RecoverOptions {
  /** Milliseconds. A lock is held while a ref is written, which takes far less; default 10 minutes. */
  readonly locksOlderThan?: number
  /** Milliseconds since anything happened in it. The push may be another node's, and slow; default 6 hours. */
  readonly uploadsOlderThan?: number
}

/** Removes what a killed process has left in a repository; tells what, relative to its folder. */
export async function recoverRepository(
  place: Workplace,
  { locksOlderThan = 600_000, uploadsOlderThan = 6 * 3_600_000 }: RecoverOptions = {},
): Promise<string[]> {
  const now = Date.now()
  const removed: string[] = []
  const remove = async (name: string, touched: number | undefined, age: number) => {
    if (touched === undefined || now - touched < age) return
    await rm(join(place.path, name), { recursive: true, force: true })
    removed.push(name)
  }
  for (const name of await lockFiles(place.path)) {
    await remove(name, await touchedAt(join(place.path, name)), locksOlderThan)
  }
  for (const name of await list(join(place.path, 'objects'))) {
    if (!name.startsWith(quarantinePrefix)) continue
    await remove(`objects/${name}`, await newest(join(place.path, 'objects', name)), uploadsOlderThan)
  }
  for (const name of await list(join(place.path, 'objects/pack'))) {
    const file = `objects/pack/${name}`
    if (name.startsWith('tmp_') || (name.endsWith('.keep') && (await isOurs(join(place.path, file))))) {
      await remove(file, await touchedAt(join(place.path, file)), uploadsOlderThan)
    }
  }
  return removed
}

async function lockFiles(path: string): Promise<string[]> {
  const inRefs = await readdir(join(path, 'refs'), { recursive: true }).catch(() => [])
  const atTop = await list(path)
  return [...atTop, ...inRefs.map((name) => `refs/${name}`)].filter((name) => name.endsWith('.lock'))
}

async function list(path: string): Promise<string[]> {
  return readdir(path).catch(() => [])
}

async function touchedAt(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
}

/** When anything in a folder was written last. */
async function newest(folder: string): Promise<number | undefined> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const times = await Promise.all([folder, ...names.map((name) => join(folder, name))].map(touchedAt))
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

async function isOurs(keepFile: string): Promise<boolean> {
  return readFile(keepFile, 'utf8').then(
    (text) => text.trim() === keepReason,
    () => false,
  )
}
