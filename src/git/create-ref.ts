import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises'
import path from 'node:path'
import { internalPrefixes } from './commands.ts'
import { GitError } from './git-error.ts'
import type { Oid, RefName } from './parse.ts'
import type { Repository } from './repository.ts'

/** How often a folder is made that git removes, as it was empty, before there is a file in it. */
const tries = 3

/**
 * Makes a ref of the service's own, whose name was never used before, the way git does it: a lock, synced and renamed.
 * To start git for each would cost more than all else that a pipeline takes. False where it is there or is being made.
 * That the repository has the object is for the caller to know, and so is the version of the refs.
 */
export async function createInternalRef(
  { path: folder, program }: Repository,
  ref: RefName,
  oid: Oid,
): Promise<boolean> {
  if (!internalPrefixes.some((prefix) => ref.startsWith(prefix))) {
    throw new GitError('failed', 'the ref is not one of the service')
  }
  const place = path.join(folder, ref)
  const lock = await openLock(`${place}.lock`)
  if (lock === undefined) return false
  let made = false
  try {
    if (await isThere(place)) return false
    await lock.writeFile(`${oid}\n`)
    if (program.durable) await lock.sync()
    await rename(`${place}.lock`, place)
    made = true
    return true
  } finally {
    await lock.close()
    if (!made) await rm(`${place}.lock`, { force: true })
  }
}

async function openLock(name: string): Promise<FileHandle | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open(name, 'wx', 0o644)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EEXIST') return undefined
      if (code !== 'ENOENT' || attempt > tries) throw error
      await mkdir(path.dirname(name), { recursive: true })
    }
  }
}

async function isThere(name: string): Promise<boolean> {
  try {
    await (await open(name, 'r')).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
