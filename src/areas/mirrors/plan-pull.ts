import {
  branchName,
  isAncestor,
  zeroOid,
  type Oid,
  type RefName,
  type RefSnapshot,
  type RefUpdate,
  type RemoteRefs,
  type Repository,
} from '../../git/index.ts'

/** Refs of the other side that are otherwise here: the branches that are mirrored, and all tags. */
export function differing(
  local: RefSnapshot,
  { refs, head }: RemoteRefs,
  isMirrored: (branch: string) => boolean,
): { readonly ref: RefName; readonly oid: Oid }[] {
  const found = [...refs].flatMap(([ref, oid]) => {
    const branch = branchName(ref)
    const wanted = branch === undefined || isMirrored(branch)
    return wanted && local.find(ref)?.oid !== oid ? [{ ref, oid }] : []
  })
  // Of an empty project the first branch becomes the default one.
  return found.sort((one, other) => Number(other.ref === head) - Number(one.ref === head))
}

/**
 * How refs here move to what they are there. What is here and not there stays, and so does what has gone another way,
 * unless it is to be overwritten. `objects` has what was fetched.
 */
export async function planPull(
  objects: Repository,
  local: RefSnapshot,
  refs: readonly { readonly ref: RefName; readonly oid: Oid }[],
  { overwrites }: { readonly overwrites: boolean },
): Promise<{ readonly updates: readonly RefUpdate[]; readonly diverged: readonly string[] }> {
  const updates: RefUpdate[] = []
  const diverged: string[] = []
  for (const { ref, oid: newOid } of refs) {
    const oldOid = local.find(ref)?.oid
    const isBranch = branchName(ref) !== undefined
    if (oldOid === undefined || overwrites || (isBranch && (await isAncestor(objects, oldOid, newOid)))) {
      updates.push({ ref, oldOid: oldOid ?? zeroOid, newOid })
    } else if (!isBranch || !(await isAncestor(objects, newOid, oldOid))) {
      // What is only ahead waits for the other side.
      diverged.push(ref)
    }
  }
  return { updates, diverged }
}
