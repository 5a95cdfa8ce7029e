import {
  changedPaths,
  isAncestor,
  MergeProblem,
  tryMerge,
  type Oid,
  type Repository,
} from '../../../git/index.ts'
import { sql } from '../../../kernel/db/index.ts'
import { heldByOthers } from '../../git-lfs/index.ts'
import { approvalsMissing } from '../approvals/missing.ts'
import { syncCodeOwners } from '../approvals/owners.ts'
import { headOf } from '../branches.ts'
import type { RequestProject } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'

type Checked = Pick<
  MergeRequestRow,
  | 'id'
  | 'state'
  | 'target_branch'
  | 'author_id'
  | 'head_sha'
  | 'base_sha'
  | 'start_sha'
  | 'approvals_missing'
  | 'merge_status'
  | 'checked_head'
  | 'checked_target'
  | 'diverged'
  | 'locked_files'
  | 'others_lock'
>

type Outcome = Pick<
  MergeRequestRow,
  'merge_status' | 'diverged' | 'checked_head' | 'checked_target' | 'approvals_missing' | 'locked_files'
>

/**
 * Whether the head of a request merges into its target as that is now, found out by a merge that nobody sees, and
 * remembered for these two heads, with what their code owners have to approve. Where both are as they were when it was
 * last found out nothing is done but to look what others have locked, which they do at any time.
 */
export async function checkMergeability(
  services: Pick<MergeRequestServices, 'db' | 'places' | 'plan'>,
  target: Pick<RequestProject, 'id' | 'storage'>,
  request: Checked,
): Promise<Outcome> {
  const { db, places } = services
  if (request.state !== 'opened') return request
  const repository = places.of(target)
  const head = request.head_sha as Oid
  const into = await headOf(repository, request.target_branch)
  const known = request.merge_status === 'can_be_merged' || request.merge_status === 'cannot_be_merged'
  const locked_files = request.others_lock && (await changesLocked(services, target.id, repository, request))
  if (known && request.checked_head === head && request.checked_target === (into ?? null)) {
    if (locked_files === request.locked_files) return request
    await sql`update merge_requests set locked_files = ${locked_files} where id = ${request.id}`.execute(
      db.writer,
    )
    return { ...request, locked_files }
  }
  const outcome = into === undefined ? { merges: false, diverged: false } : await look(repository, into, head)
  if (into !== undefined) await syncCodeOwners(services, target, request, into)
  const found = {
    merge_status: outcome.merges ? 'can_be_merged' : 'cannot_be_merged',
    diverged: outcome.diverged,
    checked_head: head,
    checked_target: into ?? null,
    locked_files,
  } as const
  const { rows } = await sql<Pick<Outcome, 'approvals_missing'>>`
    update merge_requests m set merge_status = ${found.merge_status}, diverged = ${found.diverged},
      checked_head = ${head}, checked_target = ${found.checked_target}, locked_files = ${locked_files}
    where m.id = ${request.id} and m.state = 'opened' and m.head_sha = ${head}
    returning ${approvalsMissing} as approvals_missing`.execute(db.writer)
  return { ...found, approvals_missing: rows[0]?.approvals_missing ?? request.approvals_missing }
}

/** Whether it changes files that somebody else than its author works on alone. */
async function changesLocked(
  { db }: Pick<MergeRequestServices, 'db'>,
  projectId: number,
  repository: Repository,
  { base_sha, start_sha, head_sha, author_id }: Checked,
): Promise<boolean> {
  const changed = await changedPaths(repository, (base_sha ?? start_sha) as Oid, head_sha as Oid)
  const paths = new Set(changed.flatMap(({ path, oldPath }) => [path, oldPath]))
  return (await heldByOthers(db.writer, projectId, author_id, [...paths])).length > 0
}

async function look(
  repository: Repository,
  into: Oid,
  head: Oid,
): Promise<{ merges: boolean; diverged: boolean }> {
  if (await isAncestor(repository, into, head)) return { merges: true, diverged: false }
  try {
    const { conflicts } = await tryMerge(repository, into, head)
    return { merges: conflicts.length === 0, diverged: true }
  } catch (error) {
    if (error instanceof MergeProblem) return { merges: false, diverged: true }
    throw error
  }
}
