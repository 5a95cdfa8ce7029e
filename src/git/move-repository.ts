import { copyFile, mkdir, readdir, stat } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { syncFolders, writePackedRefs } from './copy-repository.ts'
import { GitError } from './git-error.ts'
import type { RefsVersion } from './ref-cache.ts'
import { listRefs } from './refs.ts'
import { createRepository, type Repository } from './repository.ts'
import { branchRef } from './parse.ts'
import { run } from './run.ts'

const usualBranch = branchRef('main')!

/**
 * Copies the objects that `target` lacks yet, which may lie in another file system and is made when it is not there.
 * Others may push to `source` meanwhile: objects never change, and what comes later is copied the next time.
 */
export async function copyObjects(source: Repository, target: Repository): Promise<void> {
  await createRepository(target, { defaultBranch: usualBranch })
  const [from, to] = [join(source.path, 'objects'), join(target.path, 'objects')]
  for (const { name } of await readdir(from, { withFileTypes: true })) {
    if (/^[0-9a-f]{2}$/.test(name)) await copyFiles(join(from, name), join(to, name), /^[0-9a-f]{38}$/)
  }
  // Packs come before their index, by which git finds them.
  for (const ends of [/\.pack$/, /\.(?:rev|bitmap|mtimes)$/, /\.idx$/]) {
    await copyFiles(join(from, 'pack'), join(to, 'pack'), ends)
  }
}

async function copyFiles(from: string, to: string, wanted: RegExp): Promise<void> {
  const names = (await readdir(from).catch(() => [])).filter((name) => wanted.test(name))
  if (names.length > 0) await mkdir(to, { recursive: true })
  for (const name of names) {
    const size = await sizeOf(join(from, name))
    // Repacked meanwhile: its objects are in another pack, which the next copy brings.
    if (size === undefined || size === (await sizeOf(join(to, name)))) continue
    await copyFile(join(from, name), join(to, name)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    })
  }
}

function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
}

/**
 * Gives `target`, which has no refs yet, all refs of `source`, also those that only the service writes, but not its HEAD. Nobody may move
 * refs meanwhile. Throws when the copy is not whole: the refs differ, or an object is missing.
 */
export async function copyRefs(source: Repository, target: Repository, version: RefsVersion): Promise<void> {
  const { refs } = await listRefs(source, version)
  await writePackedRefs(target, refs)
  target.refCache.forget(target)
  const [ours, theirs] = await Promise.all([refsChecksum(source), refsChecksum(target)])
  if (ours !== theirs) throw new GitError('failed', 'the refs of the copy are not those of the original')
  const { exitCode, stderr } = await run(target, 'rev-list', {
    flags: ['--objects', '--quiet', '--all'],
    accept: [0, 1, 128],
  })
  if (exitCode !== 0) throw new GitError('failed', 'the copy lacks objects', { exitCode, stderr })
  if (target.program.durable) await syncFolders(target)
}

/** One value for all refs of a repository, as they are on the disk. */
export async function refsChecksum(repository: Repository): Promise<string> {
  const { stdout } = await run(repository, 'for-each-ref', { flags: ['--format=%(objectname) %(refname)'] })
  return createHash('sha256').update(stdout).digest('hex')
}
