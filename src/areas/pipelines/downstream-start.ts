import { may } from '../../access/index.ts'
import { parseOid } from '../../git/index.ts'
import type { PipelineCreator } from './create-pipeline.ts'
import { hierarchyProblem } from './downstream-rules.ts'
import { BridgeFailure, findProject, type BridgeScene, type BridgeServices } from './downstream-scene.ts'
import { countRecentDownstream, hierarchyOf, type BridgeRow } from './downstream-store.ts'
import type { PipelineOutcome } from './pipeline-request.ts'

/** Starts the pipeline that a trigger job is for, in its own project or in another one. */
export async function startDownstream(
  services: BridgeServices,
  creator: PipelineCreator,
  scene: BridgeScene,
): Promise<void> {
  const { bridge } = scene
  const made =
    bridge.project === null
      ? await startChild(services, creator, scene)
      : await startElsewhere(services, creator, scene, bridge.project)
  if ('refused' in made) {
    // Null: it was started by a try before this one.
    if (made.refused !== null) throw new BridgeFailure('downstream_pipeline_creation_failed', made.refused)
  } else if (made.broken !== undefined) {
    throw new BridgeFailure('downstream_pipeline_creation_failed', made.broken)
  }
}

async function startChild(
  services: BridgeServices,
  creator: PipelineCreator,
  scene: BridgeScene,
): Promise<PipelineOutcome> {
  const { row, bridge, actor, project, variables } = scene
  const sha = parseOid(row.pipeline.sha)
  if (sha === undefined) throw new BridgeFailure('downstream_pipeline_creation_failed', 'Commit not found')
  const about = { source: 'parent_pipeline', ref: row.ref } as const
  await checkHierarchy(services, scene, { project_id: project.id, ...about })
  const largest = services.settings.values.max_yaml_size_bytes
  return creator.create({
    ...about,
    project,
    actor,
    tag: row.tag,
    sha,
    beforeSha: row.pipeline.before_sha,
    ...(row.pipeline.merge_request !== null && { mergeRequest: row.pipeline.merge_request }),
    variables: variables.forwarded,
    // They come from the configuration, not from people.
    vettedVariables: true,
    child: {
      bridge,
      artifact: (asked) => services.results.file(row.pipeline.id, asked, largest),
    },
    ...asBridge(row),
  })
}

async function startElsewhere(
  services: BridgeServices,
  creator: PipelineCreator,
  scene: BridgeScene,
  written: string,
): Promise<PipelineOutcome> {
  const { row, bridge, actor, variables } = scene
  const { db, refProtection } = services
  const target = await findProject(db, actor, variables.expand(written))
  if (target === undefined) throw new BridgeFailure('downstream_bridge_project_not_found')
  const ref = bridge.branch === null ? (target.defaultBranch ?? '') : variables.expand(bridge.branch)
  if (
    !may(actor, 'create_pipeline', target) ||
    !(await refProtection.mayRun(db.reader, actor, target, { name: ref, tag: false }))
  ) {
    throw new BridgeFailure('insufficient_bridge_permissions')
  }
  await checkHierarchy(services, scene, { project_id: target.id, ref, source: 'pipeline' })
  return creator.createOnRef({
    project: target,
    actor,
    source: 'pipeline',
    ref,
    variables: variables.forwarded,
    inputs: bridge.inputs,
    ...asBridge(row),
  })
}

/** What all pipelines of trigger jobs have. */
function asBridge({ id, project_id, pipeline }: BridgeRow) {
  return {
    upstream: { job_id: id, pipeline_id: pipeline.id, project_id },
    eventKey: `bridge:${id}`,
    fromBridge: true,
    storesErrors: true,
  } as const
}

async function checkHierarchy(
  { db, settings }: BridgeServices,
  { row }: BridgeScene,
  next: { readonly project_id: number; readonly ref: string; readonly source: string },
): Promise<void> {
  const largest = settings.limits.pipeline_hierarchy_size
  const { ancestry, size } = await hierarchyOf(db.reader, row.pipeline.id, largest)
  const problem = hierarchyProblem(next, ancestry, size, largest)
  if (problem !== undefined) throw new BridgeFailure(problem)
  const limit = settings.values.downstream_pipeline_trigger_limit_per_project_user_sha
  if (limit === 0 || row.user_id === null) return
  const about = { projectId: row.project_id, userId: row.user_id, sha: row.pipeline.sha }
  if ((await countRecentDownstream(db.reader, about)) >= limit) {
    throw new BridgeFailure('reached_downstream_pipeline_trigger_rate_limit')
  }
}
