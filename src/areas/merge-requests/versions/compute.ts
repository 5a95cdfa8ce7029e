import {
  changedPaths,
  countCommits,
  listCommits,
  mergeBase,
  patchId,
  type Oid,
  type Repository,
} from '../../../git/index.ts'

/** What a request brings at one moment: one for each push to its source, and for each change of its target. */
export interface ComputedVersion {
  readonly head: Oid
  /** Undefined: the two have no history in common. */
  readonly base: Oid | undefined
  /** Where the target branch was. */
  readonly start: Oid
  readonly state: 'collected' | 'overflow' | 'empty'
  /** Files that differ, at most one more than are shown. */
  readonly size: number
  readonly commitsCount: number
  /** Newest first. */
  readonly commits: readonly Oid[]
  /** Addresses of who made its commits, merges aside: they bring what others made. */
  readonly committers: readonly string[]
  /** One of its commits has no signature, or there are more of them than are looked at. */
  readonly unsigned: boolean
  /** Of what it changes; undefined where that is nothing, or more than is shown. */
  readonly patchId: Oid | undefined
}

const mostCommits = 1000

/** `files`: as many as the instance shows of a diff. */
export async function computeVersion(
  repository: Repository,
  { head, start }: { readonly head: Oid; readonly start: Oid },
  files: number,
): Promise<ComputedVersion> {
  const [base, commits] = await Promise.all([
    mergeBase(repository, [start, head]),
    listCommits(repository, { revs: [head], not: [start], limit: mostCommits }),
  ])
  const from = base ?? start
  const [paths, commitsCount] = await Promise.all([
    changedPaths(repository, from, head, { renames: true, limit: files + 1 }),
    commits.length < mostCommits ? commits.length : countCommits(repository, { revs: [head], not: [start] }),
  ])
  const size = paths.length
  const state = size === 0 && commits.length === 0 ? 'empty' : size > files ? 'overflow' : 'collected'
  const patch = size === 0 || size > files ? undefined : await patchId(repository, from, head)
  return {
    ...{ head, base, start, state, size, commitsCount, patchId: patch },
    commits: commits.map(({ oid }) => oid),
    unsigned: commitsCount > commits.length || commits.some(({ signature }) => signature === undefined),
    committers: commits.filter(({ parents }) => parents.length < 2).map(({ committer }) => committer.email),
  }
}
