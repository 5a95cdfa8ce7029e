import {
  branchName,
  isAncestor,
  zeroOid,
  type RefUpdate,
  type RemoteRefs,
  type Repository,
} from '../../git/index.ts'
import type { RefSnapshot } from '../../git/index.ts'

export interface PushPlan {
  readonly updates: readonly RefUpdate[]
  /** What the other side has of its own, and keeps. */
  readonly diverged: readonly string[]
}

/**
 * What has to move there so that it is as here: the branches that are mirrored, and all tags. The branch that the other
 * side's HEAD names is never taken away, since no server would.
 */
export async function planPush(
  repository: Repository,
  { local, remote }: { readonly local: RefSnapshot; readonly remote: RemoteRefs },
  {
    isMirrored,
    keepsDivergent,
  }: { readonly isMirrored: (branch: string) => boolean; readonly keepsDivergent: boolean },
): Promise<PushPlan> {
  const updates: RefUpdate[] = []
  const diverged: string[] = []
  const mirrored = local.refs.filter(({ name }) => {
    const branch = branchName(name)
    return branch === undefined ? name.startsWith('refs/tags/') : isMirrored(branch)
  })
  for (const { name: ref, oid: newOid } of mirrored) {
    const oldOid = remote.refs.get(ref)
    if (oldOid === newOid) continue
    const kept =
      keepsDivergent &&
      oldOid !== undefined &&
      (branchName(ref) === undefined || !(await isAncestor(repository, oldOid, newOid)))
    if (kept) diverged.push(ref)
    else updates.push({ ref, oldOid: oldOid ?? zeroOid, newOid })
  }
  if (keepsDivergent) return { updates, diverged }
  for (const [ref, oldOid] of remote.refs) {
    const branch = branchName(ref)
    const ours = branch === undefined || isMirrored(branch)
    if (ours && ref !== remote.head && local.find(ref) === undefined) {
      updates.push({ ref, oldOid, newOid: zeroOid })
    }
  }
  return { updates, diverged }
}
