import { sql } from '../../../kernel/db/index.ts'
import { enterAs, project as projectKind, type ProjectSubject } from '../../../access/index.ts'
import { branchRef, findCommit, MergeProblem, rebaseCommits } from '../../../git/index.ts'
import { enqueue } from '../../../tasks/index.ts'
import { bringCommits } from '../../repository/index.ts'
import { committerOf } from '../../repository/index.ts'
import { headIn, headOf } from '../branches.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import * as store from '../store.ts'
import { rebaseTask } from '../tasks.ts'
import { refreshMergeRequest } from '../versions/refresh.ts'

export interface RebaseJob {
  readonly id: number
  readonly user: number
  readonly skipCi: boolean
}

/** False: one is on its way already. */
export async function startRebase({ db }: MergeRequestServices, job: RebaseJob): Promise<boolean> {
  return db.transaction(async (tx) => {
    const { rows } = await sql`
      update merge_requests set rebase_began_at = now(), merge_error = null
      where id = ${job.id} and state = 'opened'
        and (rebase_began_at is null or rebase_began_at < now() - interval '10 minutes') returning id`.execute(
      tx,
    )
    if (rows.length === 0) return false
    await enqueue(tx, rebaseTask, job)
    return true
  })
}

/** Makes the commits of a request again on top of its target branch, and moves its source branch to them. */
export async function rebase(services: MergeRequestServices, { id, user, skipCi }: RebaseJob): Promise<void> {
  const { db } = services
  const row = await store.find(db.writer, id)
  if (row === undefined || row.rebase_began_at === null) return
  const why = row.state === 'opened' ? await rebased(services, row, user, skipCi) : undefined
  await sql`
    update merge_requests set rebase_began_at = null, merge_error = ${why ?? null} where id = ${id}`.execute(
    db.writer,
  )
  await refreshMergeRequest(services, id, { by: user })
}

const conflicts = 'Rebase failed: Rebase locally, resolve all conflicts, then push the branch.'

async function rebased(
  services: MergeRequestServices,
  row: MergeRequestRow,
  user: number,
  skipCi: boolean,
): Promise<string | undefined> {
  const { db, places, door } = services
  const inSource =
    row.source_project_id === null
      ? undefined
      : await enterAs<ProjectSubject>(db, projectKind, user, row.source_project_id)
  const inTarget = await enterAs<ProjectSubject>(db, projectKind, user, row.project_id)
  const ref = branchRef(row.source_branch)
  if (inSource === undefined || inTarget === undefined || ref === undefined) {
    return 'Rebase failed: the source branch is gone'
  }
  const { actor, subject: source } = inSource
  const target = inTarget.subject
  const onto = await headIn(places, target, row.target_branch)
  if (onto === undefined) return 'Rebase failed: the target branch is gone'
  await bringCommits(services, target, source, onto)
  const repository = places.of(source)
  const oldOid = await headOf(repository, row.source_branch)
  if (oldOid === undefined) return 'Rebase failed: the source branch is gone'
  const committer = committerOf(services, actor.user!)
  if ((await findCommit(repository, onto)) === undefined) return 'Rebase failed: the target branch is gone'
  try {
    await using change = await rebaseCommits(repository, { ref, oldOid, onto: onto, committer })
    if (change.oid === oldOid) return undefined
    const mover = { actor, project: source, via: 'web', pushOptions: skipCi ? ['ci.skip'] : [] } as const
    const { rejected } = await door.update(mover, change.updates, change)
    return rejected[0] === undefined ? undefined : `Rebase failed: ${rejected[0].message}`
  } catch (error) {
    if (error instanceof MergeProblem) return conflicts
    throw error
  }
}
