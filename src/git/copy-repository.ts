import { link, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from './git-error.ts'
import { branchRef, type RefName } from './parse.ts'
import type { RefSnapshot, RefsVersion } from './ref-cache.ts'
import { listRefs } from './refs.ts'
import { createRepository, deleteRepository, type Repository } from './repository.ts'

export interface CopyOptions {
  /** Where HEAD of the copy points; it need not exist. */
  readonly defaultBranch: RefName
  /** Of the source. */
  readonly version: RefsVersion
  /** Only this branch and no tags; undefined: all branches and tags. */
  readonly only?: RefName | undefined
}

/**
 * Makes `target` a repository of its own with the branches and tags of `source`, which others may push to meanwhile.
 * Both must lie in one file system: objects never change, so the copy has the very same files under names of its own
 * and takes neither time nor room. Refs that only the service writes stay behind. Tells how many branches there are.
 */
export async function copyRepository(
  source: Repository,
  target: Repository,
  { defaultBranch, version, only }: CopyOptions,
): Promise<{ branches: number }> {
  await deleteRepository(target)
  await createRepository(target, { defaultBranch })
  // First the refs, then the objects: what a ref names has been there before the first object is linked.
  const refs = await listRefs(source, version)
  await linkObjects(join(source.path, 'objects'), join(target.path, 'objects'))
  const wanted = refs.refs.filter(({ name }) =>
    only === undefined ? name.startsWith('refs/heads/') || name.startsWith('refs/tags/') : name === only,
  )
  await writePackedRefs(target, wanted)
  if (target.program.durable) await syncFolders(target)
  target.refCache.forget(target)
  return { branches: wanted.filter(({ name }) => name.startsWith('refs/heads/')).length }
}

/** Packs come before their index, by which git finds them. */
const packOrder = ['.pack', '.rev', '.bitmap', '.mtimes', '.idx']
const attempts = 5

/** A repack may replace files while they are linked; then what has taken their place is linked. */
async function linkObjects(from: string, to: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const folders = await readdir(from, { withFileTypes: true })
      for (const { name } of folders.filter((entry) => entry.isDirectory())) {
        if (/^[0-9a-f]{2}$/.test(name)) await linkFiles(join(from, name), join(to, name), /^[0-9a-f]{38}$/)
      }
      await linkFiles(
        join(from, 'pack'),
        join(to, 'pack'),
        /^pack-[0-9a-f]{40}\.(?:pack|rev|bitmap|mtimes|idx)$/,
      )
      return
    } catch (error) {
      if (attempt === attempts || (error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw new GitError('failed', 'the objects could not be copied', { cause: error })
      }
    }
  }
}

/** What is being written has other names than what is whole. */
async function linkFiles(from: string, to: string, whole: RegExp): Promise<void> {
  const names = (await readdir(from)).filter((name) => whole.test(name))
  if (names.length === 0) return
  await mkdir(to, { recursive: true })
  const rank = (name: string): number => packOrder.findIndex((suffix) => name.endsWith(suffix))
  for (const name of names.sort((one, other) => rank(one) - rank(other))) {
    await link(join(from, name), join(to, name)).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    })
  }
}

/** In one file, as `git pack-refs` leaves them, however many there are. Nobody else knows the repository yet. */
export async function writePackedRefs(target: Repository, refs: RefSnapshot['refs']): Promise<void> {
  if (refs.length === 0) return
  const lines = refs.map(
    ({ name, oid, peeled }) => `${oid} ${name}\n${peeled === undefined ? '' : `^${peeled}\n`}`,
  )
  const file = await open(join(target.path, 'packed-refs'), 'wx')
  try {
    await file.writeFile(`# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`)
    if (target.program.durable) await file.sync()
  } finally {
    await file.close()
  }
}

export async function syncFolders({ path }: Repository): Promise<void> {
  const objects = await readdir(join(path, 'objects'), { withFileTypes: true })
  const folders = objects
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(path, 'objects', name))
  for (const folder of [...folders, join(path, 'objects'), path]) {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

/** The branch of this name, if the repository has it. */
export async function findBranch(
  repository: Repository,
  version: RefsVersion,
  name: string,
): Promise<RefName | undefined> {
  const ref = branchRef(name)
  return ref !== undefined && (await listRefs(repository, version)).find(ref) !== undefined ? ref : undefined
}
