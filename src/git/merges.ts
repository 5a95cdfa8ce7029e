import type { Commit, Signature } from './commit-format.ts'
import { Draft, type Merged } from './draft.ts'
import { emptyTreeOid, type Oid, type RefName } from './parse.ts'
import type { Repository } from './repository.ts'
import { run } from './run.ts'
import type { PreparedChange } from './write.ts'

/** `conflict`: files do not fit together. `empty`: there would be nothing in the commit. */
export class MergeProblem extends Error {
  readonly problem: 'conflict' | 'empty'
  readonly files: readonly string[]

  constructor(problem: 'conflict' | 'empty', files: readonly string[] = []) {
    super(problem === 'conflict' ? 'the changes do not fit together' : 'there is nothing to change')
    this.name = 'MergeProblem'
    this.problem = problem
    this.files = files
  }
}

interface Destination {
  readonly ref: RefName
  /** What the ref has now; `zeroOid` when it is to be made. */
  readonly oldOid: Oid
}

interface Words {
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/** The best common ancestors of the first commit and all the others; more than one where histories cross. */
export async function mergeBases(repository: Repository, commits: readonly Oid[]): Promise<Oid[]> {
  if (commits.length === 1) return [...commits]
  const { stdout } = await run(repository, 'merge-base', { flags: ['--all'], revs: commits, accept: [0, 1] })
  return stdout.toString('latin1').split('\n').filter(Boolean) as Oid[]
}

export async function mergeBase(repository: Repository, commits: readonly Oid[]): Promise<Oid | undefined> {
  return (await mergeBases(repository, commits))[0]
}

/** Whether one commit merges into another, and if not which files are in the way. Nothing is kept. */
export async function tryMerge(repository: Repository, ours: Oid, theirs: Oid): Promise<Merged> {
  await using draft = await Draft.open(repository)
  return await draft.merge(ours, theirs)
}

/** A merge commit of `from` into the head of a branch. Throws `MergeProblem`. */
export async function mergeCommits(
  repository: Repository,
  { ref, oldOid, from, ...words }: Destination & Words & { readonly from: Oid },
): Promise<PreparedChange> {
  await using draft = await Draft.open(repository)
  const { tree, conflicts } = await draft.merge(oldOid, from)
  if (conflicts.length > 0) throw new MergeProblem('conflict', conflicts)
  const oid = await draft.commit({ tree, parents: [oldOid, from], ...words })
  return draft.prepare(ref, oldOid, oid)
}

/** All that `head` has beyond the branch, as one commit on it. Throws `MergeProblem`. */
export async function squashCommits(
  repository: Repository,
  { ref, oldOid, head, ...words }: Destination & Words & { readonly head: Oid },
): Promise<PreparedChange> {
  await using draft = await Draft.open(repository)
  const { tree, conflicts } = await draft.merge(oldOid, head)
  if (conflicts.length > 0) throw new MergeProblem('conflict', conflicts)
  const oid = await draft.commit({ tree, parents: [oldOid], ...words })
  return draft.prepare(ref, oldOid, oid)
}

/**
 * The commits that `oldOid` has beyond `onto`, made again on it one by one; merges among them are left out, and so are
 * those that would change nothing. Throws `MergeProblem` at the first that does not fit.
 */
export async function rebaseCommits(
  repository: Repository,
  { ref, oldOid, onto, committer }: Destination & { readonly onto: Oid; readonly committer: Signature },
): Promise<PreparedChange> {
  const { stdout } = await run(repository, 'rev-list', {
    flags: ['--reverse', '--topo-order', '--no-merges', '--stdin'],
    input: `${oldOid}\n^${onto}\n`,
  })
  await using draft = await Draft.open(repository)
  let head = onto
  for (const oid of stdout.toString('latin1').split('\n').filter(Boolean) as Oid[]) {
    const commit = await draft.find(oid)
    head = (await carryOver(draft, commit, head, committer)) ?? head
  }
  return draft.prepare(ref, oldOid, head)
}

async function carryOver(
  draft: Draft,
  commit: Commit,
  onto: Oid,
  committer: Signature,
): Promise<Oid | undefined> {
  const { tree: before } = await draft.find(onto)
  const { tree, conflicts } = await draft.mergeFrom(commit.parents[0] ?? emptyTreeOid, onto, commit.oid)
  if (conflicts.length > 0) throw new MergeProblem('conflict', conflicts)
  if (tree === before) return undefined
  return draft.commit({ tree, parents: [onto], author: commit.author, committer, message: commit.message })
}

interface Pick extends Destination, Words {
  readonly commit: Commit
  /** Where the new commit goes. */
  readonly onto: Oid
}

/** What a commit changed against its first parent, done again elsewhere. Throws `MergeProblem`. */
export async function pickCommit(repository: Repository, pick: Pick): Promise<PreparedChange> {
  return apply(repository, pick, pick.commit.parents[0] ?? emptyTreeOid, pick.commit.oid)
}

/** What a commit changed against its first parent, undone. Throws `MergeProblem`. */
export async function revertCommit(repository: Repository, pick: Pick): Promise<PreparedChange> {
  return apply(repository, pick, pick.commit.oid, pick.commit.parents[0] ?? emptyTreeOid)
}

async function apply(
  repository: Repository,
  { ref, oldOid, onto, author, committer, message }: Pick,
  base: Oid,
  theirs: Oid,
): Promise<PreparedChange> {
  await using draft = await Draft.open(repository)
  const before = await draft.find(onto)
  const { tree, conflicts } = await draft.mergeFrom(base, onto, theirs)
  if (conflicts.length > 0) throw new MergeProblem('conflict', conflicts)
  if (tree === before.tree) throw new MergeProblem('empty')
  const oid = await draft.commit({ tree, parents: [onto], author, committer, message })
  return draft.prepare(ref, oldOid, oid)
}
