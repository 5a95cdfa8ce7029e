import {
  changedPaths,
  diffBlobs,
  findBlob,
  GitError,
  isZero,
  looksBinary,
  parsePath,
  readBlob,
  type ChangedPath,
  type Oid,
  type Repository,
} from '../../../git/index.ts'
import { FileLines } from './lines.ts'

/** Bytes of a file whose lines are counted. */
const largestFile = 8 * 1024 * 1024

/** The difference between two commits, of which each file is looked at once. */
export class Diff {
  readonly repository: Repository
  readonly from: Oid
  readonly to: Oid
  #paths: Promise<readonly ChangedPath[]> | undefined
  readonly #lines = new Map<string, Promise<FileLines | undefined>>()

  constructor(repository: Repository, from: Oid, to: Oid) {
    this.repository = repository
    this.from = from
    this.to = to
  }

  async byNewPath(path: string): Promise<ChangedPath | undefined> {
    return (await this.#changed()).find((file) => file.path === path)
  }

  async byOldPath(path: string): Promise<ChangedPath | undefined> {
    const found = (await this.#changed()).filter(
      ({ status, oldPath }) => status !== 'added' && oldPath === path,
    )
    // A file may be gone and another one of its name be there.
    return found.find(({ status }) => status === 'renamed') ?? found[0]
  }

  /** How its lines changed; undefined of a binary file, and where they are too many to tell. */
  lines({ path, oldOid, newOid }: ChangedPath): Promise<FileLines | undefined> {
    const known = this.#lines.get(path)
    if (known !== undefined) return known
    const made = this.#compare(oldOid, newOid).catch((error: unknown) => {
      if (error instanceof GitError) return undefined
      throw error
    })
    this.#lines.set(path, made)
    return made
  }

  async #compare(oldOid: Oid, newOid: Oid): Promise<FileLines | undefined> {
    if (isZero(oldOid)) return this.#whole(newOid, '+')
    if (isZero(newOid)) return this.#whole(oldOid, '-')
    const patch = await diffBlobs(this.repository, oldOid, newOid)
    return patch === '' && oldOid !== newOid ? undefined : new FileLines(patch)
  }

  /** A file that came or went: each of its lines did. */
  async #whole(oid: Oid, sign: '+' | '-'): Promise<FileLines | undefined> {
    const content = await readBlob(this.repository, oid, largestFile)
    if (content === undefined || looksBinary(content)) return undefined
    const count = countLines(content)
    const place = sign === '+' ? `-0,0 +1,${count}` : `-1,${count} +0,0`
    return new FileLines(`@@ ${place} @@\n${`${sign}\n`.repeat(count)}`)
  }

  #changed(): Promise<readonly ChangedPath[]> {
    this.#paths ??=
      this.from === this.to
        ? Promise.resolve([])
        : changedPaths(this.repository, this.from, this.to, { renames: true })
    return this.#paths
  }
}

/** How many lines the file has there; 0 where there is none, or one that is too large. */
export async function lineCountOf(repository: Repository, commit: Oid, path: string): Promise<number> {
  const content = await contentOf(repository, commit, path)
  return content === undefined ? 0 : countLines(content)
}

function countLines(content: Buffer): number {
  let count = content.length === 0 || content.at(-1) === 0x0a ? 0 : 1
  for (const byte of content) if (byte === 0x0a) count += 1
  return count
}

export async function contentOf(
  repository: Repository,
  commit: Oid,
  path: string,
): Promise<Buffer | undefined> {
  const parsed = parsePath(path)
  const blob = parsed === undefined ? undefined : await findBlob(repository, commit, parsed)
  if (blob === undefined || blob.size > largestFile) return undefined
  return readBlob(repository, blob.oid, largestFile)
}
