import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { GitError } from './git-error.ts'
import type { ObjectReaders } from './object-readers.ts'
import type { RefName } from './parse.ts'
import type { RefCache } from './ref-cache.ts'
import { run, type Workplace } from './run.ts'

/**
 * A bare repository in its folder, with what this process shares about it. Made by `Git.repository`, which looks at
 * nothing; it is cheap and may be made anew for every request.
 */
export interface Repository extends Workplace {
  /** Absolute. */
  readonly path: string
  readonly readers: ObjectReaders
  readonly refCache: RefCache
}

/** Creates an empty bare repository. Done again on an existing one it changes nothing but its default branch. */
export async function createRepository(
  repository: Repository,
  { defaultBranch }: { defaultBranch: RefName },
): Promise<void> {
  const name = shortBranch(defaultBranch)
  await run(repository, 'init', {
    // No template: no sample hooks, no description.
    flags: ['--bare', '--quiet', '--template=', '--object-format=sha1', `--initial-branch=${name}`],
  })
  await setDefaultBranch(repository, defaultBranch)
}

/** Removes the folder with everything in it. */
export async function deleteRepository(repository: Repository): Promise<void> {
  await repository.readers.release(repository)
  repository.refCache.forget(repository)
  await rm(repository.path, { recursive: true, force: true, maxRetries: 3 })
}

export async function repositoryExists(repository: Workplace): Promise<boolean> {
  try {
    await Promise.all(['HEAD', 'objects', 'refs'].map((name) => access(join(repository.path, name))))
    return true
  } catch {
    return false
  }
}

/** Points HEAD at a branch, which need not exist. The caller bumps the version of the refs. */
export async function setDefaultBranch(repository: Repository, branch: RefName): Promise<void> {
  shortBranch(branch)
  await run(repository, 'symbolic-ref', { flags: ['HEAD'], revs: [branch] })
}

function shortBranch(ref: RefName): string {
  if (!ref.startsWith('refs/heads/')) throw new GitError('failed', 'the default branch must be a branch')
  return ref.slice('refs/heads/'.length)
}
