import {
  accountProblem,
  enterAs,
  find,
  isVisible,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import { isCompleted, type Answers, type Bridge, type Questions, type Variable } from '../../ci/index.ts'
import { findCommit, parseOid } from '../../git/index.ts'
import { addressesFor } from './addresses.ts'
import { ciSettings } from './ci-settings.ts'
import type { CreatorServices, PipelineCreator } from './create-pipeline.ts'
import { tagMessage } from './find-ref.ts'
import { followedStatus, hierarchyProblem } from './downstream-rules.ts'
import * as store from './downstream-store.ts'
import { bridgeVariables, type BridgeVariables } from './downstream-variables.ts'
import type { GivenVariable, PipelineOutcome } from './pipeline-request.ts'
import { predefinedVariables } from './predefined.ts'
import { cancelJobs, latestJobs, reopenSkipped } from './process-store.ts'
import { skippedAfter } from './rules.ts'
import { pipelineSecretContext, projectFacts } from './variable-source.ts'

/** What jobs of a pipeline have made; the area that keeps artifacts answers, plugged in by `app/`. */
export interface JobResults {
  file(pipelineId: number, about: Questions['artifact'], maximumBytes: number): Promise<Answers['artifact']>
  /** The variables in dotenv reports with these digests, in their order. */
  dotenv(digests: readonly string[]): Promise<Variable[]>
}

interface Scene {
  readonly row: store.BridgeRow
  readonly bridge: Bridge
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly variables: BridgeVariables
}

/** Why a trigger job fails; `message` in words, where there are any. */
class Drop extends Error {
  readonly reason: string

  constructor(reason: string, message = '') {
    super(message)
    this.reason = reason
  }
}

/** Trigger jobs: they start pipelines, or follow them. */
export class Downstream {
  readonly #services: CreatorServices & { readonly results: JobResults }
  readonly #creator: PipelineCreator

  constructor(services: CreatorServices & { readonly results: JobResults }, creator: PipelineCreator) {
    this.#services = services
    this.#creator = creator
  }

  /** Does what a trigger job is there for; done again after a crash it goes on where it was. */
  async run(jobId: number): Promise<void> {
    const { db, process } = this.#services
    const row = await store.findBridge(db.reader, jobId)
    if (row === undefined) return
    const { id: pipelineId } = row.pipeline
    try {
      const scene = await this.#enter(row)
      await this.#move(row, 'running')
      if (scene.bridge.mirrors !== null && scene.bridge.project === null && scene.bridge.include === null) {
        await this.#mirror(scene, scene.bridge.mirrors)
      } else if (row.downstream_id === null) {
        await this.#start(scene)
      }
      if (scene.bridge.strategy !== null || scene.bridge.mirrors !== null)
        await this.settle(row.id, pipelineId)
      else await this.#move(row, 'success')
    } catch (error) {
      if (!(error instanceof Drop)) throw error
      if (error.message !== '') await store.noteMessage(db.writer, row.id, error.message)
      await process.drop({ id: row.id, pipelineId }, error.reason, ['pending', 'running'])
    }
    await this.#cancelIfLate(row)
  }

  /** Whatever follows this pipeline is told of its status. */
  async follow(pipelineId: number): Promise<void> {
    for (const { id, pipeline_id } of await store.followersOf(this.#services.db.reader, pipelineId)) {
      await this.settle(id, pipeline_id)
    }
  }

  /** Brings a trigger job to where the pipeline that it follows is now. */
  async settle(bridgeId: number, pipelineId: number): Promise<void> {
    await this.#services.process.change(pipelineId, async (tx, pipeline) => {
      const nothing = { result: undefined, changed: [] }
      const now = await store.followed(tx, bridgeId)
      if (now?.strategy == null || now.followed === null) return nothing
      const status = followedStatus(now.strategy, now.followed)
      if (status === now.status || now.status === 'pending') return nothing
      // Whoever canceled the job meant it; only a pipeline that runs anew opens it again.
      if (now.status === 'canceled' && status !== 'running') return nothing
      const failed = status === 'failed'
      const changed = [
        ...(await store.setBridge(tx, bridgeId, status, { reason: failed ? 'unknown_failure' : null })),
      ]
      if (status === 'running' && isCompleted(now.status)) {
        await reopenSkipped(
          tx,
          pipelineId,
          skippedAfter(await latestJobs(tx, pipelineId), now.name, now.stage_index),
        )
      }
      if (failed && !now.allow_failure && pipeline.cancel_on_job_failure === 'all') {
        return { result: undefined, changed: [...changed, ...(await cancelJobs(tx, pipelineId))] }
      }
      return { result: undefined, changed }
    })
  }

  async #move(row: store.BridgeRow, status: 'running' | 'success'): Promise<void> {
    if (row.status === status) return
    await this.#services.process.change(row.pipeline.id, async (tx) => {
      const now = await tx
        .selectFrom('ci_jobs as j')
        .select('j.status')
        .where('j.id', '=', row.id)
        .where('j.status', 'in', ['pending', 'running'])
        .executeTakeFirst()
      return {
        result: undefined,
        changed: now === undefined ? [] : await store.setBridge(tx, row.id, status),
      }
    })
  }

  /** The user of the job with his rights, and the variables that the job knows. */
  async #enter(row: store.BridgeRow): Promise<Scene> {
    const { db, cipher, places, externalUrl, refProtection } = this.#services
    const entered =
      row.user_id === null
        ? undefined
        : await enterAs<ProjectSubject>(db, projectKind, row.user_id, row.project_id)
    const user = entered?.actor.user
    if (entered === undefined || !user || accountProblem(user) !== undefined) throw new Drop('user_blocked')
    const { actor, subject: project } = entered
    if (!may(actor, 'run_job', project)) throw new Drop('builds_disabled')
    const ref = { name: row.ref, tag: row.tag }
    if (
      !may(actor, 'update_pipeline', project) ||
      !(await refProtection.mayRun(db.reader, actor, project, ref))
    ) {
      throw new Drop('insufficient_bridge_permissions')
    }
    const sha = parseOid(row.pipeline.sha)
    const [{ facts, variables: ofProject }, commit, message, dotenv] = await Promise.all([
      projectFacts(db.reader, cipher, project.id, {
        protectedRef: row.protected,
        ref: { name: row.pipeline.merge_request?.source.branch ?? row.ref, tag: row.tag },
      }),
      sha && findCommit(places.of(project), sha),
      tagMessage(places.of(project), project.refsVersion, ref),
      this.#services.results.dotenv(row.dotenv),
    ])
    const about = {
      source: row.pipeline.source as never,
      ref: row.ref,
      tag: row.tag,
      sha: row.pipeline.sha,
      beforeSha: row.pipeline.before_sha,
      protected: row.protected,
      upstream: row.pipeline.upstream,
      tagMessage: message,
      iid: row.pipeline.iid,
      user,
      mergeRequest: row.pipeline.merge_request,
    }
    const { configPath } = ciSettings(project)
    const variables = bridgeVariables(row, {
      pipelineUrl: `${externalUrl()}/${project.fullPath}/-/pipelines/${row.pipeline.id}`,
      predefined: predefinedVariables(
        addressesFor(this.#services, project),
        project,
        facts,
        about,
        commit,
        configPath,
      ),
      dotenv,
      ofProject,
      given: row.variables.map(({ secret, ...rest }): GivenVariable => ({
        ...rest,
        value: cipher.open(secret, pipelineSecretContext),
      })),
    })
    if ('error' in variables) throw new Drop('invalid_bridge_trigger', variables.error)
    return { row, bridge: row.definition.bridge!, actor, project, variables }
  }

  async #start(scene: Scene): Promise<void> {
    const { bridge } = scene
    const made =
      bridge.project === null
        ? await this.#startChild(scene)
        : await this.#startElsewhere(scene, bridge.project)
    if ('refused' in made) {
      // Null: it was started by a try before this one.
      if (made.refused !== null) throw new Drop('downstream_pipeline_creation_failed', made.refused)
    } else if (made.broken !== undefined) {
      throw new Drop('downstream_pipeline_creation_failed', made.broken)
    }
  }

  async #startChild(scene: Scene): Promise<PipelineOutcome> {
    const { row, bridge, actor, project, variables } = scene
    const sha = parseOid(row.pipeline.sha)
    if (sha === undefined) throw new Drop('downstream_pipeline_creation_failed', 'Commit not found')
    const about = { source: 'parent_pipeline', ref: row.ref } as const
    await this.#checkHierarchy(scene, { project_id: project.id, ...about })
    const largest = this.#services.settings.values.max_yaml_size_bytes
    return this.#creator.create({
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
        artifact: (asked) => this.#services.results.file(row.pipeline.id, asked, largest),
      },
      ...this.#asBridge(row),
    })
  }

  async #startElsewhere(scene: Scene, written: string): Promise<PipelineOutcome> {
    const { row, bridge, actor, variables } = scene
    const { db, refProtection } = this.#services
    const target = await this.#findProject(actor, variables.expand(written))
    if (target === undefined) throw new Drop('downstream_bridge_project_not_found')
    const ref = bridge.branch === null ? (target.defaultBranch ?? '') : variables.expand(bridge.branch)
    if (
      !may(actor, 'create_pipeline', target) ||
      !(await refProtection.mayRun(db.reader, actor, target, { name: ref, tag: false }))
    ) {
      throw new Drop('insufficient_bridge_permissions')
    }
    await this.#checkHierarchy(scene, { project_id: target.id, ref, source: 'pipeline' })
    return this.#creator.createOnRef({
      project: target,
      actor,
      source: 'pipeline',
      ref,
      variables: variables.forwarded,
      inputs: bridge.inputs,
      ...this.#asBridge(row),
    })
  }

  /** What all pipelines of trigger jobs have. */
  #asBridge({ id, project_id, pipeline }: store.BridgeRow) {
    return {
      upstream: { job_id: id, pipeline_id: pipeline.id, project_id },
      eventKey: `bridge:${id}`,
      fromBridge: true,
      storesErrors: true,
    } as const
  }

  async #checkHierarchy(
    { row }: Scene,
    next: { readonly project_id: number; readonly ref: string; readonly source: string },
  ): Promise<void> {
    const { db, settings } = this.#services
    const largest = settings.limits.pipeline_hierarchy_size
    const { ancestry, size } = await store.hierarchyOf(db.reader, row.pipeline.id, largest)
    const problem = hierarchyProblem(next, ancestry, size, largest)
    if (problem !== undefined) throw new Drop(problem)
    const limit = settings.values.downstream_pipeline_trigger_limit_per_project_user_sha
    if (limit === 0 || row.user_id === null) return
    const about = { projectId: row.project_id, userId: row.user_id, sha: row.pipeline.sha }
    if ((await store.countRecentDownstream(db.reader, about)) >= limit) {
      throw new Drop('reached_downstream_pipeline_trigger_rate_limit')
    }
  }

  /** Follows the newest pipeline of another project's default branch. */
  async #mirror({ row, actor, variables }: Scene, written: string): Promise<void> {
    const { db, process } = this.#services
    const target = await this.#findProject(actor, variables.expand(written))
    if (target === undefined) throw new Drop('upstream_bridge_project_not_found')
    if (!may(actor, 'read_pipeline', target)) throw new Drop('insufficient_upstream_permissions')
    const pipeline =
      row.mirrors_pipeline_id ?? (await store.newestOn(db.reader, target.id, target.defaultBranch ?? ''))
    if (pipeline === undefined)
      throw new Drop('upstream_bridge_project_not_found', 'There is no pipeline to follow')
    await process.change(row.pipeline.id, async (tx) => ({
      result: undefined,
      changed: await store.setBridge(tx, row.id, 'running', { mirrors: pipeline }),
    }))
  }

  async #findProject(actor: Actor, path: string): Promise<ProjectSubject | undefined> {
    const found = await find<ProjectSubject>(this.#services.db.reader, projectKind, actor, path.toLowerCase())
    return found !== undefined && isVisible(actor, found) ? found : undefined
  }

  /** A job that was canceled while its child pipeline came to be takes that along. */
  async #cancelIfLate(row: store.BridgeRow): Promise<void> {
    const { db, process } = this.#services
    const children = await db.transaction(async (tx) => {
      const { status } = await tx
        .selectFrom('ci_jobs as j')
        .select('j.status')
        .where('j.id', '=', row.id)
        .executeTakeFirstOrThrow()
      return status === 'canceled' ? store.livingChildren(tx, row.pipeline.id, [row.id]) : []
    })
    for (const id of children) await process.cancel(id)
  }
}
