import { may, type ProjectSubject } from '../../access/index.ts'
import type { CompiledPipeline, Status } from '../../ci/index.ts'
import { findCommit, parseOid, zeroOid, type Commit, type Repository } from '../../git/index.ts'
import { cutTo, isLonger } from '../../kernel/lib/characters.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import { addressesFor, type AddressServices } from './addresses.ts'
import { ciSettings } from './ci-settings.ts'
import { compilePipeline, type Compiled, type Refused } from './compile-pipeline.ts'
import type { SourceServices } from './config-sources.ts'
import {
  AlreadyCreated,
  countActive,
  countRecent,
  insertPipeline,
  Overtaken,
  type Inserted,
  type NewPipelineRow,
} from './create-store.ts'
import type { Deployments } from './deployments.ts'
import { isRejected, type ValidationServices } from './external-validation.ts'
import { findRef, tagMessage } from './find-ref.ts'
import { advance, type Hold, type MachineJob } from './machine.ts'
import { buildsMerge, isProtectedMerge } from './merge-request.ts'
import type { PersistentRefs } from './persistent-refs.ts'
import type { GivenVariable, PipelineOutcome, PipelineRequest, RefRequest } from './pipeline-request.ts'
import { predefinedVariables } from './predefined.ts'
import type { PipelineProcess } from './process-pipeline.ts'
import type { RefProtection } from './ref-protection.ts'
import { checkVariables, hasSkipMarker, isAtRest } from './rules.ts'
import { pipelineSecretContext, projectFacts } from './variable-source.ts'

export interface CreatorServices extends SourceServices, AddressServices, ValidationServices {
  readonly cipher: Cipher
  readonly refProtection: RefProtection
  readonly process: PipelineProcess
  readonly deployments: Deployments
  readonly refs: PersistentRefs
}

const longestRef = 300
const longestErrors = 100 * 1024
const mostInputs = 20
/** How often a pipeline is compiled while others take its number. */
const mostAttempts = 20

class NumberTaken extends Error {}

/** Makes pipelines, whoever asks for them: a push, the API, a trigger, a schedule. */
export class PipelineCreator {
  readonly #services: CreatorServices

  constructor(services: CreatorServices) {
    this.#services = services
  }

  /** The checks of the completions (3.11) in their order, from the project to the ref; then as `create`. */
  async createOnRef(request: RefRequest): Promise<PipelineOutcome> {
    const { places, db, refProtection } = this.#services
    const { project, actor } = request
    if (project.deleting) return { refused: 'Project is deleted!' }
    if (!may(actor, 'run_job', project)) return { refused: 'Pipelines are disabled!' }
    if (project.importing) {
      return { refused: 'You cannot run pipelines before project import is complete.' }
    }
    if (!may(actor, 'create_pipeline', project)) {
      return { refused: 'Insufficient permissions to create a new pipeline' }
    }
    const found = await findRef(places.of(project), project.refsVersion, request.ref)
    const ref = typeof found === 'string' ? { name: request.ref, tag: false } : found
    const { isProtected, mayRun } = await refProtection.judge(db.reader, actor, project, ref)
    if (!mayRun) {
      return {
        refused:
          `You do not have sufficient permission to run a pipeline on '${ref.name}'. ` +
          'Please select a different branch or contact your administrator for assistance.',
      }
    }
    if (found === 'missing') return { refused: 'Reference not found' }
    if (found === 'ambiguous') return { refused: 'Ref is ambiguous' }
    return this.#create({ ...request, ref: found.name, tag: found.tag, sha: found.sha }, isProtected)
  }

  async create(request: PipelineRequest): Promise<PipelineOutcome> {
    const { db, refProtection } = this.#services
    const { project, ref, tag, mergeRequest } = request
    const isProtected =
      mergeRequest === undefined
        ? await refProtection.isProtected(db.reader, project.id, { name: ref, tag })
        : isProtectedMerge(mergeRequest, project)
    return this.#create(request, isProtected)
  }

  async #create({ payload, ...given }: PipelineRequest, protectedRef: boolean): Promise<PipelineOutcome> {
    const { places, settings } = this.#services
    const { project, variables = [] } = given
    const takesInputs =
      given.fromBridge === true ||
      settings.isOn(
        'ci_inputs_for_pipelines',
        `Project:${project.id}`,
        ...(given.actor.user === null ? [] : [`User:${given.actor.user.id}` as const]),
      )
    const request: PipelineRequest = {
      ...given,
      inputs: takesInputs ? given.inputs : undefined,
      variables: payload === undefined ? variables : [...variables, payloadVariable(payload)],
    }

    if (isLonger(request.ref, longestRef)) {
      return { refused: `Ref is too long (maximum is ${longestRef} characters)` }
    }
    const repository = places.of(project)
    const commit = await findCommit(repository, request.sha)
    if (commit === undefined) return { refused: 'Commit not found' }
    const wrong =
      checkVariables(given, payload === undefined ? [] : [payloadKey]) ?? (await this.#checkRate(request))
    if (wrong !== undefined) return { refused: wrong }
    if (request.skip === true || (honoursSkip(request) && (await asksForNone(repository, request, commit)))) {
      return this.#store(request, protectedRef, 'skipped')
    }
    if (Object.keys(request.inputs ?? {}).length > mostInputs) {
      return { refused: `There cannot be more than ${mostInputs} inputs` }
    }
    for (let attempt = 1; ; attempt += 1) {
      const { made: compiled, iid } = await this.#compile(request, repository, commit, protectedRef)
      const made = 'refused' in compiled ? compiled : onlyOf(request.onlyJob, compiled)
      if (made === undefined) return { refused: 'There is no such job', nothing: true }
      if ('refused' in made && (request.storesErrors !== true || made.failureReason === null)) {
        return { refused: made.refused, nothing: made.failureReason === null }
      }
      const crowded = 'refused' in made ? undefined : await this.#checkActive(project, made)
      if (crowded !== undefined) {
        const refused = { refused: crowded, failureReason: 'job_activity_limit_exceeded' }
        return request.storesErrors === true ? this.#store(request, protectedRef, refused) : refused
      }
      if (!('refused' in made) && (await isRejected(this.#services, { ...request, made }))) {
        return { refused: 'External validation failed' }
      }
      // Where it goes into names, the number has to be the one that was compiled with.
      const bound = 'usesIid' in made && made.usesIid && attempt < mostAttempts
      try {
        return await this.#store(request, protectedRef, made, bound ? iid : undefined)
      } catch (error) {
        if (!(error instanceof NumberTaken)) throw error
      }
    }
  }

  /** As many pipelines a minute as the instance lets one user start for one commit. */
  async #checkRate({ project, actor, sha, fromBridge }: PipelineRequest): Promise<string | undefined> {
    const { db, settings } = this.#services
    const limit = settings.values.pipeline_limit_per_project_user_sha
    if (limit === 0 || fromBridge === true || actor.user === null) return undefined
    const recent = await countRecent(db.reader, { projectId: project.id, userId: actor.user.id, sha })
    return recent < limit ? undefined : 'Too many pipelines created in the last minute. Try again later.'
  }

  /** Whether the project may have so many more jobs that have not ended. */
  async #checkActive({ id }: ProjectSubject, { jobs }: CompiledPipeline): Promise<string | undefined> {
    const { db, settings } = this.#services
    const most = settings.limits.ci_active_jobs
    if (most === 0 || (await countActive(db.reader, id, most)) + jobs.length <= most) return undefined
    return 'Project exceeded the allowed number of jobs in active pipelines. Retry later.'
  }

  async #compile(
    request: PipelineRequest,
    repository: Repository,
    commit: Commit,
    protectedRef: boolean,
  ): Promise<{ made: Compiled | Refused; iid: number }> {
    const { db, cipher } = this.#services
    const { project, ref, tag, sha, source, beforeSha = zeroOid, mergeRequest = null } = request
    const [{ facts, variables, nextIid }, message] = await Promise.all([
      projectFacts(db.reader, cipher, project.id, {
        protectedRef,
        ref: { name: mergeRequest?.source.branch ?? ref, tag },
      }),
      tagMessage(repository, project.refsVersion, { name: ref, tag }),
    ])
    const { configPath } = ciSettings(project)
    const { upstream = null } = request
    const scheduleDescription = request.schedule?.description ?? null
    const about = {
      ...{ source, ref, tag, sha, beforeSha, protected: protectedRef },
      ...{ upstream, scheduleDescription, mergeRequest, tagMessage: message },
      ...{ iid: nextIid, user: request.actor.user },
    }
    const given = (request.variables ?? []).map(({ key, value, variable_type, raw = false }) => ({
      key,
      value,
      file: variable_type === 'file',
      raw,
      masked: false,
    }))
    const made = await compilePipeline(this.#services, {
      ...about,
      actor: request.actor,
      project,
      repository,
      inputs: request.inputs,
      child: request.child,
      configPath,
      predefined: predefinedVariables(
        addressesFor(this.#services, project),
        project,
        facts,
        about,
        commit,
        configPath,
      ),
      given: [...variables, ...given],
    })
    return { made, iid: nextIid }
  }

  /** By their places. */
  async #holds(
    { project, actor }: PipelineRequest,
    jobs: CompiledPipeline['jobs'],
  ): Promise<ReadonlyMap<number, Hold>> {
    const { db, deployments } = this.#services
    const deploying = jobs.flatMap(({ environment, bridge }, id) =>
      environment === null || bridge !== null ? [] : [{ id, environment }],
    )
    if (deploying.length === 0) return new Map()
    return deployments.heldNew(
      db.reader,
      { projectId: project.id, userId: actor.user?.id ?? null },
      deploying,
    )
  }

  async #store(
    request: PipelineRequest,
    protectedRef: boolean,
    made: CompiledPipeline | Refused | 'skipped',
    iid?: number,
  ): Promise<PipelineOutcome> {
    const { db, cipher, process, deployments, refs } = this.#services
    const jobs = made === 'skipped' || 'refused' in made ? [] : made.jobs
    const rows = jobs.map((job, id): MachineJob => ({
      id,
      name: job.name,
      kind: job.bridge === null ? 'build' : 'bridge',
      stage_index: job.stageIndex,
      needs: job.needs?.map(({ name }) => name) ?? null,
      run_when: job.when,
      status: 'created',
      allow_failure: job.allowFailure,
      start_in: job.startIn,
      resource_group: job.resourceGroup,
      started_at: null,
      finished_at: null,
      coverage: null,
    }))
    const { project, sha } = request
    const now = new Date()
    const holds = await this.#holds(request, jobs)
    const met = advance(rows, now, { holds })
    const waits = !isAtRest(met.pipeline.status) && rows.some(({ kind }) => kind === 'build')
    const reserved = waits ? await refs.reserve(project, sha) : undefined
    using turn = reserved?.turn
    const prepared = reserved === undefined || reserved.outcome === 'written'
    const first = prepared ? met : advance(rows, now, { prepared, holds })
    const turned = new Map(first.changed.map(({ job, status }) => [job.id, status]))
    const row: NewPipelineRow = {
      ...pipelineRow(request, protectedRef, made, first.pipeline),
      ...(reserved !== undefined && { id: reserved.id }),
      persistentRef: { has: waits && prepared, needs: jobs.length > 0 && !(waits && prepared) },
    }
    const variables = (request.variables ?? []).map(({ key, value, variable_type, raw = false }) => ({
      key,
      secret: cipher.seal(value, pipelineSecretContext),
      variable_type,
      raw,
    }))
    const environments = jobs.flatMap(({ environment }) => (environment === null ? [] : [environment]))
    const statuses = jobs.map((job, index) => ({ job, status: turned.get(index) ?? 'created' }))
    await turn?.come
    try {
      return await db.transaction(async (tx) => {
        const inserted: Inserted = await insertPipeline(tx, row, variables, statuses)
        if (iid !== undefined && inserted.iid !== iid) throw new NumberTaken()
        if (row.deploys) {
          await deployments.begin(tx, { projectId: row.projectId, pipelineId: inserted.id }, environments)
        }
        await process.announceNew(tx, request.project, row, inserted)
        const broken = made !== 'skipped' && 'refused' in made ? made.refused : undefined
        return { id: inserted.id, iid: inserted.iid, ...(broken !== undefined && { broken }) }
      })
    } catch (error) {
      if (reserved?.outcome === 'written') await refs.abandon(project, reserved.id, sha)
      if (error instanceof AlreadyCreated) return { refused: null }
      if (!(error instanceof Overtaken)) throw error
      // Another one is stored by then, so that this ends.
      turn?.[Symbol.dispose]()
      return await this.#store(request, protectedRef, made, iid)
    }
  }
}

/** All of a pipeline, or the one job of it that is wanted; undefined where there is no such job. */
function onlyOf(name: string | undefined, made: Compiled): Compiled | undefined {
  if (name === undefined) return made
  const jobs = made.jobs.filter((job) => job.name === name).map((job) => ({ ...job, needs: null }))
  return jobs.length === 0 ? undefined : { ...made, jobs }
}

/** Whether the message of the commit may ask for no jobs: not where somebody asks for the pipeline of a ref. */
function honoursSkip({ honoursSkip: asked = false, source }: PipelineRequest): boolean {
  return asked || source === 'merge_request_event'
}

/** Whether the newest commit that somebody wrote says so: a merge that only the service sees has no words of theirs. */
async function asksForNone(
  repository: Repository,
  { mergeRequest }: PipelineRequest,
  commit: Commit,
): Promise<boolean> {
  const merged = mergeRequest !== undefined && buildsMerge(mergeRequest)
  const head = merged ? parseOid(mergeRequest.source.sha) : undefined
  const written = head === undefined ? commit : await findCommit(repository, head)
  return written !== undefined && hasSkipMarker(written.message)
}

const payloadKey = 'TRIGGER_PAYLOAD'

function payloadVariable(value: string): GivenVariable {
  return { key: payloadKey, value, variable_type: 'file', raw: true }
}

function pipelineRow(
  request: PipelineRequest,
  protectedRef: boolean,
  made: CompiledPipeline | Refused | 'skipped',
  computed: NewPipelineRow['state'],
): NewPipelineRow {
  const refused = made !== 'skipped' && 'refused' in made ? made : undefined
  const compiled = made !== 'skipped' && !('refused' in made) ? made : undefined
  const status: Status = made === 'skipped' ? 'skipped' : refused !== undefined ? 'failed' : computed.status
  return {
    projectId: request.project.id,
    userId: request.actor.user?.id ?? null,
    source: request.source,
    ref: request.ref,
    tag: request.tag,
    sha: request.sha,
    beforeSha: request.beforeSha ?? zeroOid,
    protected: protectedRef,
    name: compiled?.workflowName ?? null,
    yamlErrors: refused?.failureReason === 'config_error' ? cutTo(refused.refused, longestErrors) : null,
    failureReason: refused?.failureReason ?? null,
    eventKey: request.eventKey ?? null,
    triggerId: request.triggerId ?? null,
    scheduleId: request.schedule?.id ?? null,
    mergeRequest: request.mergeRequest ?? null,
    sourceJobId: request.upstream?.job_id ?? null,
    cancelOnNewCommit: compiled?.autoCancel.onNewCommit ?? 'conservative',
    cancelOnJobFailure: compiled?.autoCancel.onJobFailure ?? 'none',
    deploys: compiled?.jobs.some(({ environment }) => environment !== null) ?? false,
    state: { ...computed, status },
  }
}
