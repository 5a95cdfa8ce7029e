import type { Actor, ProjectSubject } from '../../access/index.ts'
import { countCommits, type Oid } from '../../git/index.ts'
import { offers } from '../../kernel/config/index.ts'
import { pipelineDetail, pipelineSummary } from '../pipelines/index.ts'
import { headOf } from './branches.ts'
import { listedMergeRequest, type Surroundings } from './entities.ts'
import { htmlOf } from './html.ts'
import { checkMergeability } from './merging/check.ts'
import { isRebasing } from './merging/rebasing.ts'
import type { Circumstances } from './merging/status.ts'
import { findDetail, mayMerge, type DetailRow } from './reading/one.ts'
import type { MergeRequestServices } from './services.ts'

export interface Extras {
  readonly include_diverged_commits_count?: boolean | undefined
  readonly include_rebase_in_progress?: boolean | undefined
  readonly render_html?: boolean | undefined
}

export function surroundings(
  services: Pick<MergeRequestServices, 'externalUrl' | 'plan'> & {
    readonly settings: Pick<MergeRequestServices['settings'], 'values'>
  },
): Surroundings {
  const hoursOnly = services.settings.values.time_tracking_limit_to_hours
  return { externalUrl: services.externalUrl(), hoursOnly, ...circumstances(services) }
}

export function circumstances({ plan }: Pick<MergeRequestServices, 'plan'>): Circumstances {
  return { paid: offers(plan, 'merge_request_fields'), now: new Date() }
}

/** A single request as the API answers it. Whether it can be merged is found out first, where that is not known. */
export async function showMergeRequest(
  services: MergeRequestServices,
  actor: Actor,
  project: ProjectSubject,
  found: DetailRow,
  extras: Extras = {},
): Promise<Record<string, unknown>> {
  const row = { ...found, ...(await checkMergeability(services, project, found)) }
  const about = surroundings(services)
  const { head_pipeline: pipeline } = row
  const count = row.files
  return {
    ...listedMergeRequest(row, about),
    ...(extras.render_html === true && (await htmlOf(services, actor, row))),
    subscribed: row.subscribed,
    changes_count:
      count === null || count === 0 ? null : row.overflow === true ? `${count - 1}+` : String(count),
    latest_build_started_at: pipeline?.started_at ?? null,
    latest_build_finished_at: pipeline?.finished_at ?? null,
    first_deployed_to_production_at: row.deployed_at,
    ...(pipeline === null
      ? { pipeline: null, head_pipeline: null }
      : shownPipelines(services, pipeline, project)),
    diff_refs: { base_sha: row.base_sha, head_sha: row.head_sha, start_sha: row.start_sha },
    merge_error: row.merge_error,
    ...(extras.include_rebase_in_progress === true && { rebase_in_progress: isRebasing(row, about.now) }),
    ...(extras.include_diverged_commits_count === true && {
      diverged_commits_count: await divergedCommits(services, project, row),
    }),
    first_contribution: row.state !== 'merged' && !row.merged_before,
    user: { can_merge: actor.user !== null && mayMerge(actor, project, row) },
  }
}

function shownPipelines(
  services: MergeRequestServices,
  row: NonNullable<DetailRow['head_pipeline']>,
  project: ProjectSubject,
): Record<string, unknown> {
  const { project_path: fullPath } = row
  return {
    pipeline: pipelineSummary(row, { fullPath }, services.externalUrl()),
    head_pipeline: pipelineDetail(row, { ...project, fullPath }, services),
  }
}

/** Commits that the target branch has and the source lacks. */
async function divergedCommits(
  { places }: MergeRequestServices,
  project: ProjectSubject,
  row: DetailRow,
): Promise<number> {
  const repository = places.of(project)
  const target = await headOf(repository, row.target_branch)
  return target === undefined ? 0 : countCommits(repository, { revs: [target], not: [row.head_sha as Oid] })
}

/** As it is after something was done to it. */
export async function showAgain(
  services: MergeRequestServices,
  actor: Actor,
  project: ProjectSubject,
  id: number,
): Promise<Record<string, unknown>> {
  const row = await findDetail(services.db.writer, id, actor)
  if (row === undefined) throw new Error('the merge request is gone')
  return showMergeRequest(services, actor, project, row)
}
