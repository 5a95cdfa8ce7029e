import type { Signature } from './commit-format.ts'
import { Draft } from './draft.ts'
import { isAncestor } from './is-ancestor.ts'
import { MergeProblem } from './merges.ts'
import type { Oid, RefName } from './parse.ts'
import type { Repository } from './repository.ts'
import type { PreparedChange } from './write.ts'

interface Words {
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

export interface Landing {
  readonly ref: RefName
  /** The head of the branch that is merged into. */
  readonly oldOid: Oid
  readonly head: Oid
  /** All that `head` brings as one commit in place of its own. */
  readonly squash?: Words | undefined
  /** A merge commit; without it the branch moves on to what is merged, which must have all that the branch has. */
  readonly merge?: Words | undefined
}

export interface Landed {
  readonly change: PreparedChange
  readonly squashOid: Oid | undefined
  readonly mergeOid: Oid | undefined
}

/** Merges a head into a branch, as commits that nobody sees until they are let in. Throws `MergeProblem`. */
export async function landCommits(
  repository: Repository,
  { ref, oldOid, head, squash, merge }: Landing,
): Promise<Landed> {
  await using draft = await Draft.open(repository)
  if (squash === undefined && merge === undefined) {
    if (!(await isAncestor(repository, oldOid, head))) throw new MergeProblem('conflict')
    return { change: draft.prepare(ref, oldOid, head), squashOid: undefined, mergeOid: undefined }
  }
  const { tree, conflicts } = await draft.merge(oldOid, head)
  if (conflicts.length > 0) throw new MergeProblem('conflict', conflicts)
  const squashOid = squash && (await draft.commit({ tree, parents: [oldOid], ...squash }))
  const side = squashOid ?? head
  const mergeOid = merge && (await draft.commit({ tree, parents: [oldOid, side], ...merge }))
  return { change: draft.prepare(ref, oldOid, mergeOid ?? side), squashOid, mergeOid }
}
