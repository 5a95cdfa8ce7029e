import { sql } from '../../../kernel/db/index.ts'
import {
  enterAs,
  find,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../../access/index.ts'
import { parseOid } from '../../../git/index.ts'
import { offers } from '../../../kernel/config/index.ts'
import type { MergeRequestFacts, PipelineOutcome } from '../../pipelines/index.ts'
import { isProtectedBranch } from '../../protected-branches/index.ts'
import { squashesOnMerge } from '../entities.ts'
import { makeMergeRef, type MergeRef } from '../merging/merge-ref.ts'
import { findProjects } from '../projects.ts'
import type { MergeRequestRow } from '../rows.ts'
import type { MergeRequestServices } from '../services.ts'
import * as store from '../store.ts'
import { keepCommits, requestRef } from '../versions/refs.ts'

/**
 * The pipeline of a request, in its own project or in the fork that it comes from: of what merging would make, where its
 * project wants that and the branches fit together, else of its head.
 */
export async function createRequestPipeline(
  services: MergeRequestServices,
  actor: Actor,
  project: ProjectSubject,
  row: MergeRequestRow,
  eventKey?: string,
): Promise<PipelineOutcome> {
  const sha = parseOid(row.head_sha)
  const mergeRequest = await factsOf(services, row)
  if (sha === undefined || mergeRequest === undefined) return { refused: 'Source branch is gone' }
  const merge = wantsMerge(services, project, row) ? await makeMergeRef(services, project, row) : undefined
  const made = await services.creator.create({
    project,
    actor,
    source: 'merge_request_event',
    tag: false,
    ...(merge === undefined
      ? { ref: requestRef(row.iid, 'head'), sha, mergeRequest }
      : { ref: requestRef(row.iid, 'merge'), sha: merge.oid, mergeRequest: ofMerge(mergeRequest, merge) }),
    ...(eventKey !== undefined && { eventKey }),
  })
  // Its ref moves on to the next merge.
  if (merge !== undefined && 'id' in made) await keepCommits(services, project, [merge.oid])
  return made
}

/** Whether the pipeline is to build what merging would make. A fork has nothing to merge into. */
function wantsMerge({ plan }: MergeRequestServices, { id }: ProjectSubject, row: MergeRequestRow): boolean {
  const { project_id, project_settings, state } = row
  if (!offers(plan, 'merged_results_pipelines')) return false
  return project_settings['merge_pipelines_enabled'] === true && id === project_id && state === 'opened'
}

function ofMerge(facts: MergeRequestFacts, { target }: MergeRef): MergeRequestFacts {
  return { ...facts, eventType: 'merged_result', target: { ...facts.target, sha: target } }
}

/** What jobs are told of a request. Undefined: the fork is gone. */
async function factsOf(
  { db, externalUrl }: MergeRequestServices,
  row: MergeRequestRow,
): Promise<MergeRequestFacts | undefined> {
  const projects = await findProjects(db.reader, [row.project_id, row.source_project_id])
  const target = projects.get(row.project_id)
  const source = projects.get(row.source_project_id ?? 0)
  if (target === undefined || source === undefined) return undefined
  const place = ({ id, fullPath }: typeof target) => ({
    id,
    path: fullPath,
    url: `${externalUrl()}/${fullPath}`,
  })
  const [ofSource, ofTarget] = await Promise.all([
    isProtectedBranch(db.reader, source.id, row.source_branch),
    isProtectedBranch(db.reader, target.id, row.target_branch),
  ])
  return {
    id: row.id,
    iid: row.iid,
    eventType: 'detached',
    title: row.title,
    description: row.description,
    draft: row.draft,
    approved: !row.approvals_missing,
    assignees: row.assignees.map(({ username }) => username),
    labels: row.labels.map(({ name }) => name),
    milestone: row.milestone?.title ?? null,
    squash: squashesOnMerge(row),
    diffId: row.version_id,
    diffBaseSha: row.base_sha,
    project: place(target),
    source: {
      branch: row.source_branch,
      sha: row.head_sha,
      protected: ofSource,
      project: place(source),
    },
    target: { branch: row.target_branch, sha: row.start_sha, protected: ofTarget },
  }
}

/** Where a pipeline that somebody asks for runs: in the project of the target where he may start some, else in the fork. */
export async function placeForPipeline(
  { db }: Pick<MergeRequestServices, 'db'>,
  actor: Actor,
  project: ProjectSubject,
  row: Pick<MergeRequestRow, 'source_project_id'>,
): Promise<ProjectSubject | undefined> {
  const own = row.source_project_id === project.id
  const inParent = own || project.settings['ci_allow_fork_pipelines_to_run_in_parent_project'] !== false
  if (inParent && may(actor, 'create_pipeline', project)) return project
  if (own || row.source_project_id === null) return undefined
  const fork = await find<ProjectSubject>(db.reader, projectKind, actor, String(row.source_project_id))
  return fork !== undefined && may(actor, 'create_pipeline', fork) ? fork : undefined
}

/** The pipeline of a new head, in the name of who pushed it, where he may start one at its source. Once for each version. */
export async function createForVersion(
  services: MergeRequestServices,
  { id, user }: { readonly id: number; readonly user: number | null },
): Promise<void> {
  const row = await store.find(services.db.writer, id)
  if (row === undefined || row.state !== 'opened' || row.source_project_id === null || user === null) return
  const entered = await enterAs<ProjectSubject>(services.db, projectKind, user, row.source_project_id)
  if (entered === undefined || !may(entered.actor, 'create_pipeline', entered.subject)) return
  const { rows } = await sql`
    select from ci_pipelines p where p.event_key = ${eventKeyOf(row)}`.execute(services.db.reader)
  if (rows.length > 0) return
  await createRequestPipeline(services, entered.actor, entered.subject, row, eventKeyOf(row))
}

function eventKeyOf({ id, version_id }: MergeRequestRow): string {
  return `merge-request:${id}:${version_id ?? 0}`
}
