import { findBlob, parsePath, readBlob, rootPath, type Oid, type Repository } from '../../git/index.ts'

/** A file of a commit, as a whole. Undefined: there is none. `too-large`: it is larger than `limit` bytes. */
export async function readFileAt(
  repository: Repository,
  commit: Oid,
  path: string,
  limit: number,
): Promise<Buffer | 'too-large' | undefined> {
  const parsed = parsePath(path)
  if (parsed === undefined || parsed === rootPath) return undefined
  const found = await findBlob(repository, commit, parsed)
  if (found === undefined) return undefined
  return found.size > limit ? 'too-large' : readBlob(repository, found.oid, limit)
}
