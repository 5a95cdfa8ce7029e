import type { Oid, RefName } from './parse.ts'
import { RefSnapshot, type Branch, type RefsVersion, type TagRef } from './ref-cache.ts'
import type { Repository } from './repository.ts'
import { records } from './run.ts'

/** The refs as they are since `version`, from memory when they were read before. */
export async function listRefs(repository: Repository, version: RefsVersion): Promise<RefSnapshot> {
  return repository.refCache.get(repository, version)
}

export async function listBranches(repository: Repository, version: RefsVersion): Promise<readonly Branch[]> {
  return (await listRefs(repository, version)).branches
}

export async function listTags(repository: Repository, version: RefsVersion): Promise<readonly TagRef[]> {
  return (await listRefs(repository, version)).tags
}

/** The branches whose every commit is part of `into` (`into` itself among them, if it is the head of a branch). */
export async function mergedBranches(repository: Repository, into: Oid): Promise<RefName[]> {
  const names: RefName[] = []
  const options = {
    flags: ['--format=%(refname)', `--merged=${into}`],
    revs: ['refs/heads/' as RefName],
  } as const
  for await (const line of records(repository, 'for-each-ref', 0x0a, options)) {
    names.push(line.toString() as RefName)
  }
  return names
}

/** The refs under `prefix` that contain the commit, by name; at most `limit`. */
export async function refsContaining(
  repository: Repository,
  commit: Oid,
  prefix: 'refs/heads/' | 'refs/tags/',
  limit = 1000,
): Promise<RefName[]> {
  const names: RefName[] = []
  const options = {
    flags: ['--format=%(refname)', `--contains=${commit}`, `--count=${limit}`],
    revs: [prefix as RefName],
  } as const
  for await (const line of records(repository, 'for-each-ref', 0x0a, options)) {
    names.push(line.toString() as RefName)
  }
  return names
}
