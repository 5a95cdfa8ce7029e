import type { ProjectSubject } from '../../../access/index.ts'
import {
  landCommits,
  MergeProblem,
  parseRefName,
  resolve,
  zeroOid,
  type Oid,
  type Signature,
} from '../../../git/index.ts'
import { headOf } from '../branches.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { requestRef } from '../versions/refs.ts'

const service: Signature = { name: 'Guildhall', email: 'noreply@localhost', date: new Date(0), offset: 0 }

/**
 * The commit that merging would make, under `refs/merge-requests/N/merge`: the same for the same heads, whoever asks.
 * Undefined where the branches do not fit together.
 */
export async function makeMergeRef(
  { places, door }: Pick<MergeRequestServices, 'places' | 'door'>,
  project: Pick<ProjectSubject, 'id' | 'storage' | 'defaultBranch' | 'repositoryEmpty'>,
  row: MergeRequestRow,
): Promise<Oid | undefined> {
  const repository = places.of(project)
  const target = await headOf(repository, row.target_branch)
  if (target === undefined) return undefined
  const ref = requestRef(row.iid, 'merge')
  const head = row.head_sha as Oid
  const words = { author: service, committer: service, message: `Merge ${head} into ${target}` }
  try {
    const { change } = await landCommits(repository, {
      ref: parseRefName(ref)!,
      oldOid: target,
      head,
      merge: words,
    })
    await using drafted = change
    const oldOid = (await resolve(repository, ref)) ?? zeroOid
    if (oldOid !== drafted.oid) {
      await door.moveInternal(project, [{ ref, oldOid, newOid: drafted.oid }], drafted.quarantine)
    }
    return drafted.oid
  } catch (error) {
    if (error instanceof MergeProblem) return undefined
    throw error
  }
}
