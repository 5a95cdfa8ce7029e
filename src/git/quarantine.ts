import { mkdir, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repository } from './repository.ts'

/** Git's own housekeeping knows this prefix and removes such folders when they are old. */
export const quarantinePrefix = 'tmp_objdir-incoming-'
/** Written into `.keep` files, so that a left one can be told from an administrator's. */
export const keepReason = 'push in progress'

/**
 * A folder for objects that are not let in yet. They are read through `repository`; `migrate` makes them part of the
 * real one. Disposing removes what was not let in, and must come after the refs have moved: until then a `.keep` file
 * hides the new pack from a repack that could take its objects for garbage.
 */
export interface Quarantine extends AsyncDisposable {
  readonly repository: Repository
  migrate(): Promise<void>
}

export async function openQuarantine(repository: Repository): Promise<Quarantine> {
  const objects = join(repository.path, 'objects')
  const folder = await mkdtemp(join(objects, quarantinePrefix))
  const view: Repository = { ...repository, quarantine: folder }
  let kept: string[] = []
  return {
    repository: view,
    async migrate() {
      kept = await migrate(folder, objects, repository.program.durable)
    },
    async [Symbol.asyncDispose]() {
      await repository.readers.release(view)
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
      for (const file of kept) await rm(file, { force: true })
    },
  }
}

// A reader finds a pack by its .idx, so that comes last; and no repack may see it before its .keep.
const order = ['.keep', '.pack', '.rev', '.bitmap', '.idx']

function rank(name: string): number {
  const found = order.findIndex((suffix) => name.endsWith(suffix))
  return found < 0 ? order.indexOf('.rev') : found
}

/** Moves every object file; returns the `.keep` files to remove later. Objects that exist already stay as they are. */
async function migrate(from: string, to: string, durable: boolean): Promise<string[]> {
  const kept: string[] = []
  const touched = [to]
  for (const folder of await readdir(from, { withFileTypes: true })) {
    if (!folder.isDirectory()) continue
    const target = join(to, folder.name)
    await mkdir(target, { recursive: true })
    const names = await readdir(join(from, folder.name))
    // Names that start with tmp_ are what a broken-off command left.
    for (const name of names.filter((n) => !n.startsWith('tmp_')).sort((a, b) => rank(a) - rank(b))) {
      await move(join(from, folder.name, name), target, name)
      if (name.endsWith('.keep')) kept.push(join(target, name))
    }
    touched.push(target)
  }
  if (durable) await Promise.all(touched.map(syncFolder))
  return kept
}

async function move(file: string, target: string, name: string): Promise<void> {
  const there = await stat(join(target, name)).catch(() => undefined)
  if (there !== undefined && !name.endsWith('.keep')) return
  try {
    await rename(file, join(target, name))
  } catch (error) {
    // Housekeeping removes folders of loose objects that became empty, perhaps just now.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await mkdir(target, { recursive: true })
    await rename(file, join(target, name))
  }
}

/** A new name is on the disk only when its folder is. */
async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
