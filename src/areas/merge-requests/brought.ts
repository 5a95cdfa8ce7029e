import type { ProjectSubject } from '../../access/index.ts'
import type { Oid } from '../../git/index.ts'
import { chosenIid, sql, type Tx } from '../../kernel/db/index.ts'
import type { MergeRequestServices } from './services.ts'
import { addVersion, readersAmong, setPeople } from './store.ts'
import { withCommitters, type NewVersion } from './versions/committers.ts'
import { computeVersion } from './versions/compute.ts'
import { keepCommits } from './versions/refs.ts'

/** A merge request as it was somewhere else. */
export interface BroughtRequest {
  readonly iid: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed' | 'merged'
  readonly sourceBranch: string
  readonly targetBranch: string
  /** Its source branch is in the project; of one from elsewhere nobody knows the project. */
  readonly sourceHere: boolean
  /** The source branch is there no more. */
  readonly sourceGone: boolean
  readonly authorId: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly mergedAt: string | null
  readonly closedAt: string | null
  readonly mergeUserId: number | null
  readonly mergeCommit: string | null
  readonly locked: boolean
  /** Number of the milestone, of the project itself. */
  readonly milestone: number | null
  /** Titles of labels, of the project itself. */
  readonly labels: readonly string[]
  readonly assigneeIds: readonly number[]
  readonly reviewerIds: readonly number[]
}

type Services = Pick<MergeRequestServices, 'db' | 'settings' | 'externalUrl' | 'places' | 'door'>

/** What a request brings that was made elsewhere, of commits that are in the repository already and are kept there. */
export async function broughtVersion(
  services: Services,
  project: ProjectSubject,
  { head, start }: { readonly head: Oid; readonly start: Oid },
): Promise<NewVersion> {
  const repository = services.places.of(project)
  const { diff_max_files: files } = services.settings.values
  const computed = await computeVersion(repository, { head, start }, files)
  const version = await withCommitters(services, computed)
  await keepCommits(services, project, [version.head, version.base, version.start])
  return version
}

/** False where there is one of that number, or an open one between the same branches. */
export async function writeBrought(
  tx: Tx,
  projectId: number,
  request: BroughtRequest,
  version: NewVersion,
): Promise<boolean> {
  const { iid, state, createdAt, updatedAt } = request
  const { rows } = await sql<{ id: number }>`
    insert into merge_requests (project_id, iid, source_project_id, source_branch, target_branch, title, description,
      author_id, state, audience, head_sha, base_sha, start_sha, prepared_at, created_at, merged_at, closed_at,
      merge_user_id, merge_commit_sha, merged_sha, discussion_locked, milestone_id)
    select p.id, ${iid}, ${request.sourceHere ? projectId : null}::bigint, ${request.sourceBranch},
      ${request.targetBranch}, ${request.title}, ${request.description}, ${request.authorId}, ${state},
      merge_request_audience(p.visibility, p.feature_levels), ${version.head}, ${version.base ?? null},
      ${version.start}, ${createdAt}, ${createdAt}, ${request.mergedAt}, ${request.closedAt},
      ${request.mergeUserId}::bigint, ${request.mergeCommit}, ${request.mergeCommit},
      ${request.locked ? true : null}::boolean,
      (select m.id from milestones m where m.project_id = p.id and m.iid = ${request.milestone})
    from projects p where p.id = ${projectId}
    on conflict do nothing returning id`.execute(tx)
  const id = rows[0]?.id
  if (id === undefined) return false
  await addVersion(tx, id, version)
  for (const [list, ids] of [
    ['assignees', request.assigneeIds],
    ['reviewers', request.reviewerIds],
  ] as const) {
    await setPeople(tx, `merge_request_${list}`, id, await readersAmong(tx, projectId, ids))
  }
  await sql`
    insert into noteable_labels (noteable_type, noteable_id, label_id)
    select distinct 'MergeRequest', ${id}::bigint, l.id from labels l
    where l.project_id = ${projectId} and l.title = any (${[...request.labels]}::text[])`.execute(tx)
  await chosenIid({ projectId }, 'merge_request', iid).execute(tx)
  await sql`
    update merge_requests set updated_at = ${updatedAt}, source_gone = ${state === 'opened' && request.sourceGone}
    where id = ${id}`.execute(tx)
  return true
}
