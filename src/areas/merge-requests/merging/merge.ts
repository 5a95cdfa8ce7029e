import { sql } from '../../../kernel/db/index.ts'
import { userOf, type Actor, type ProjectSubject } from '../../../access/index.ts'
import {
  branchRef,
  isAncestor,
  landCommits,
  MergeProblem,
  type Landed,
  type Oid,
  type RefName,
  type Repository,
} from '../../../git/index.ts'
import { refused, type ApiError } from '../../../kernel/errors/index.ts'
import { committerOf } from '../../repository/index.ts'
import { headOf } from '../branches.ts'
import { squashesOnMerge } from '../entities.ts'
import type { MergeParams, MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import { messageFacts } from './facts.ts'
import { finishMerge, reopenUnmerged, wentWrong } from './finish.ts'
import { commitMessage, mergeTemplate, squashTemplate } from './messages.ts'
import { movesForward } from './status.ts'

export const notMergeable = (): ApiError => refused(405, '405 Method Not Allowed')
export const branchNotMergeable = (): ApiError => refused(422, 'Branch cannot be merged')

/** How often a merge is made again because the target branch was moved meanwhile. */
const attempts = 4

/**
 * Merges a request that nothing stands in the way of. First it is locked: of two who merge at once one finds it open,
 * and the other is told that it is not. What the target branch will have is written down before the branch moves, so
 * that after a crash whoever looks can tell what became of it.
 */
export async function merge(
  services: MergeRequestServices,
  actor: Actor,
  project: ProjectSubject,
  row: MergeRequestRow,
  wish: MergeParams,
): Promise<void> {
  const { id } = row
  if (!(await lockForMerge(services, actor, row, wish))) throw notMergeable()
  let why = wentWrong
  try {
    const refusal = await landed(services, actor, project, row, wish)
    if (refusal === undefined) {
      await finishMerge(services, id)
      return
    }
    why = refusal
  } catch (error) {
    await reopenUnmerged(services, row, why)
    throw error
  }
  await reopenUnmerged(services, row, why)
  throw branchNotMergeable()
}

/** True where the request was open, with this head, until now. */
async function lockForMerge(
  { db }: MergeRequestServices,
  actor: Actor,
  { id, head_sha, squash }: MergeRequestRow,
  wish: MergeParams,
): Promise<boolean> {
  const { rows } = await sql`
    update merge_requests set state = 'locked', locked_at = now(), merging_sha = null, merge_error = null,
      merge_user_id = ${userOf(actor).id}, merge_params = ${JSON.stringify(wish)}, squash = ${wish.squash ?? squash}
    where id = ${id} and state = 'opened' and head_sha = ${head_sha} returning id`.execute(db.writer)
  return rows.length > 0
}

/** Why the commits could not be brought to the target branch, or undefined where they are on it. */
async function landed(
  services: MergeRequestServices,
  actor: Actor,
  project: ProjectSubject,
  row: MergeRequestRow,
  wish: MergeParams,
): Promise<string | undefined> {
  const { places, door } = services
  const repository = places.of(project)
  const ref = branchRef(row.target_branch)!
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const target = await headOf(repository, row.target_branch)
    if (target === undefined) return 'Merge failed: the target branch does not exist'
    // Somebody else may have been faster since the request was looked at.
    if (movesForward(row) && !(await isAncestor(repository, target, row.head_sha as Oid))) {
      return 'Merge failed: the source branch lacks commits of the target branch'
    }
    const made = await build(services, actor, repository, row, wish, { ref, target }).catch(
      (error: unknown) => {
        if (error instanceof MergeProblem) return undefined
        throw error
      },
    )
    if (made === undefined) return 'Merge failed: there are conflicts'
    await using change = made.change
    await writeDown(services, row.id, made)
    const { rejected } = await door.update({ actor, project, via: 'web' }, change.updates, change)
    const [problem] = rejected
    if (problem === undefined) return undefined
    if (problem.reason !== 'stale') return `Merge failed: ${problem.message}`
  }
  return 'Merge failed: the target branch is moved all the time. Please try again.'
}

async function build(
  services: MergeRequestServices,
  actor: Actor,
  repository: Repository,
  row: MergeRequestRow,
  wish: MergeParams,
  { ref, target }: { readonly ref: RefName; readonly target: Oid },
): Promise<Landed> {
  const { project_settings: settings } = row
  const squashes = squashesOnMerge({ ...row, squash: wish.squash ?? row.squash })
  const merges = settings['merge_method'] !== 'ff'
  const facts = await messageFacts(services, repository, actor, row)
  const committer = committerOf(services, userOf(actor))
  const template = (key: string, fallback: string): string => {
    const own = settings[key]
    return typeof own === 'string' && own.trim() !== '' ? own : fallback
  }
  return landCommits(repository, {
    ref,
    oldOid: target,
    head: row.head_sha as Oid,
    squash: squashes
      ? {
          author: facts.author === undefined ? committer : { ...committer, ...facts.author },
          committer,
          message:
            wish.squash_commit_message ??
            commitMessage(template('squash_commit_template', squashTemplate), facts),
        }
      : undefined,
    merge: merges
      ? {
          author: committer,
          committer,
          message:
            wish.merge_commit_message ??
            commitMessage(template('merge_commit_template', mergeTemplate), facts),
        }
      : undefined,
  })
}

async function writeDown(
  { db }: MergeRequestServices,
  id: number,
  { change, mergeOid, squashOid }: Landed,
): Promise<void> {
  const { rows } = await sql`
    update merge_requests set merging_sha = ${change.oid}, merge_commit_sha = ${mergeOid ?? null},
      squash_commit_sha = ${squashOid ?? null}, locked_at = now()
    where id = ${id} and state = 'locked' returning id`.execute(db.writer)
  if (rows.length === 0) throw notMergeable()
}
