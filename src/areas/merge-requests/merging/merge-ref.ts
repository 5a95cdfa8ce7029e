import { commitAddress, type ProjectSubject } from '../../../access/index.ts'
import {
  findCommit,
  landCommits,
  MergeProblem,
  resolve,
  zeroOid,
  type Landing,
  type Oid,
  type Repository,
} from '../../../git/index.ts'
import { headOf } from '../branches.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import * as store from '../store.ts'
import { requestRef } from '../versions/refs.ts'

type Services = Pick<MergeRequestServices, 'db' | 'places' | 'door' | 'settings' | 'externalUrl'>
type Request = Pick<MergeRequestRow, 'iid' | 'head_sha' | 'target_branch' | 'author_id'>

const service = { name: 'Guildhall', email: 'noreply@localhost' }

/** How often it is made again because somebody else made another one meanwhile. */
const attempts = 4

export interface MergeRef {
  readonly oid: Oid
  /** The head of the target branch that it merges into. */
  readonly target: Oid
}

/**
 * The commit that merging would make, under `refs/merge-requests/N/merge`: the same for the same heads, whoever asks and
 * whenever. Undefined where the branches do not fit together.
 */
export async function makeMergeRef(
  services: Services,
  project: Pick<ProjectSubject, 'id' | 'storage' | 'defaultBranch' | 'repositoryEmpty'>,
  row: Request,
): Promise<MergeRef | undefined> {
  const { places, door } = services
  const repository = places.of(project)
  const ref = requestRef(row.iid, 'merge')
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const target = await headOf(repository, row.target_branch)
    if (target === undefined) return undefined
    const landed = await landCommits(repository, {
      ref,
      oldOid: target,
      head: row.head_sha as Oid,
      merge: await words(services, repository, row, target),
    }).catch((error: unknown) => {
      if (error instanceof MergeProblem) return undefined
      throw error
    })
    if (landed === undefined) return undefined
    await using drafted = landed.change
    const oldOid = (await resolve(repository, ref)) ?? zeroOid
    const updates = [{ ref, oldOid, newOid: drafted.oid }]
    if (oldOid === drafted.oid || (await door.moveInternal(project, updates, drafted.quarantine))) {
      return { oid: drafted.oid, target }
    }
  }
  throw new Error('the merge of a request was made anew all the time')
}

/** By the author of the request, as of the newer of the two heads. */
async function words(
  { db, ...house }: Services,
  repository: Repository,
  { author_id, head_sha }: Request,
  target: Oid,
): Promise<NonNullable<Landing['merge']>> {
  const head = head_sha as Oid
  const [author, ...heads] = await Promise.all([
    store.findCommitter(db.reader, author_id),
    findCommit(repository, head),
    findCommit(repository, target),
  ])
  const date = new Date(Math.max(...heads.map((commit) => commit?.committer.date.getTime() ?? 0)))
  const committer = { ...service, date, offset: 0 }
  return {
    author:
      author === undefined
        ? committer
        : { ...committer, name: author.name, email: commitAddress(house, author) },
    committer,
    message: `Merge ${head} into ${target}`,
  }
}
