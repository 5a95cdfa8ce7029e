import { buffer } from 'node:stream/consumers'
import {
  accountProblem,
  enterAs,
  may,
  project as projectKind,
  type ProjectSubject,
  type User,
} from '../../access/index.ts'
import { expandText, type Variable } from '../../ci/index.ts'
import type { Blobs } from '../../blobs/index.ts'
import { branchRef, listRefs, tagRef } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import type { Cipher } from '../../kernel/lib/secrets.ts'
import type { Logger } from '../../kernel/log/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { IdentityTokens } from '../identity-tokens/index.ts'
import { readDotenv, type Commits, type Traces } from '../jobs/index.ts'
import {
  addressesFor,
  ciSettings,
  isArchived,
  pipelineSecretContext,
  openFacts,
  pipelineRef,
  predefinedVariables,
  tagMessage,
  type AddressServices,
  type PipelineProcess,
} from '../pipelines/index.ts'
import type { RepositoryPlaces } from '../repository/index.ts'
import { keepSession, type JobSession } from '../terminals/index.ts'
import { cacheKeys } from './cache-keys.ts'
import { crossDependencies } from './cross-dependencies.ts'
import { dependenciesOf, missingFeature, type Unfit } from './hand-out-rules.ts'
import type { Handed } from './job-queue.ts'
import {
  handedJob,
  type DeployTokens,
  type EarlierJob,
  type HandedJob,
  type HandedRow,
  type SealedVariable,
} from './job-row.ts'
import { jobVariables, type PayloadVariable } from './job-variables.ts'
import { payload } from './payload.ts'
import { secretsFor } from './secrets.ts'
import * as store from './store.ts'

export interface HandOutServices extends AddressServices {
  readonly db: Database
  readonly cipher: Cipher
  readonly deployTokens: DeployTokens
  readonly blobs: Blobs
  readonly places: RepositoryPlaces
  readonly settings: Settings
  readonly process: PipelineProcess
  readonly commits: Commits
  readonly traces: Traces
  readonly log: Logger
  readonly identity: IdentityTokens
}

/** Makes what a runner gets of a job that it was given; a job that cannot run is dropped, and the answer undefined. */
export class HandOut {
  readonly #services: HandOutServices
  readonly #instanceUuid: string

  constructor(services: HandOutServices) {
    this.#services = services
    this.#instanceUuid = services.cipher.uuid('instance')
  }

  /** What goes wrong here is no trouble of the runner, whose next job may be a good one: three refusals silence it. */
  async payload(
    handed: Handed,
    features: ReadonlySet<string>,
    session?: JobSession,
  ): Promise<Record<string, unknown> | undefined> {
    try {
      return await this.#payload(handed, features, session)
    } catch (error) {
      const { process, log } = this.#services
      log.warn({ err: error, job: handed.jobId }, 'a job could not be handed to a runner')
      await process
        .drop({ id: handed.jobId, pipelineId: handed.pipelineId }, 'scheduler_failure', ['running'])
        .catch((cause: unknown) => log.warn({ err: cause, job: handed.jobId }, 'nor could it be dropped'))
      return undefined
    }
  }

  async #payload(
    handed: Handed,
    features: ReadonlySet<string>,
    session: JobSession | undefined,
  ): Promise<Record<string, unknown> | undefined> {
    const { process } = this.#services
    // The pipeline hears of it meanwhile.
    const [made] = await Promise.all([this.#make(handed, features, session), handed.started])
    if (made === undefined) return undefined
    if ('payload' in made) {
      if (session !== undefined) await keepSession(this.#services, handed.jobId, session)
      return made.payload
    }
    if (made.because !== undefined) await this.#say(handed.jobId, `ERROR: Job failed: ${made.because}\n`)
    await process.drop({ id: handed.jobId, pipelineId: handed.pipelineId }, made.reason, ['running'])
    return undefined
  }

  /** In the log, for whoever wonders why it did not run. */
  async #say(jobId: number, text: string): Promise<void> {
    const { traces } = this.#services
    await traces.append(jobId, await traces.size(jobId), Buffer.from(text))
    await traces.finish(jobId)
  }

  /** Undefined: it was canceled in this very moment, and its runner never hears of it. */
  async #make(
    { jobId, projectId, userId, token }: Handed,
    features: ReadonlySet<string>,
    session: JobSession | undefined,
  ): Promise<{ payload: Record<string, unknown> } | Unfit | undefined> {
    const { db, cipher, externalUrl, places, settings: instance, deployTokens } = this.#services
    const wanted = handedJob(jobId, {
      keeps: instance.values.keep_latest_artifact,
      deployToken: deployTokens.ofSubject,
    })
    const entered =
      userId === null
        ? undefined
        : await enterAs<ProjectSubject, HandedRow>(db, projectKind, userId, projectId, wanted)
    const user = entered?.actor.user
    if (entered === undefined || !user || accountProblem(user) !== undefined)
      return { reason: 'user_blocked' }
    const project = entered.subject
    const found = entered.rows[0]
    if (found === undefined || !may(entered.actor, 'run_job', project)) return { reason: 'builds_disabled' }
    const { job } = found
    if (job.status !== 'running') return undefined
    if (isArchived(job.pipeline, instance.values)) return { reason: 'archived_failure' }
    if (missingFeature(job, features) !== undefined) return { reason: 'runner_unsupported' }
    if (job.outdated && ciSettings(project).forwardDeployment)
      return { reason: 'failed_outdated_deployment_job' }
    const { shared_runners_minutes: quota } = instance.values
    if (quota > 0 && job.used !== null && job.used >= quota * 60) return { reason: 'ci_quota_exceeded' }
    const earlier = dependenciesOf(job)
    if (earlier === 'missing') return { reason: 'missing_dependency_failure' }

    const repository = places.of(project)
    const settings = ciSettings(project)
    const { facts, variables: ofProject } = openFacts(cipher, found.facts)
    const [commits, refs, message] = await Promise.all([
      this.#services.commits.find(repository, [job.pipeline.sha]),
      listRefs(repository, project.refsVersion),
      tagMessage(repository, project.refsVersion, { name: job.ref, tag: job.tag }),
    ])
    const addresses = addressesFor(this.#services, project)
    const repositoryUrl = cloneUrl(externalUrl(), project.fullPath, token)
    const { pipeline } = job
    const about = {
      source: pipeline.source as never,
      ref: job.ref,
      tag: job.tag,
      sha: pipeline.sha,
      beforeSha: pipeline.before_sha,
      protected: job.protected,
      upstream: pipeline.upstream,
      scheduleDescription: pipeline.schedule_description,
      tagMessage: message,
      iid: pipeline.iid,
      user,
      mergeRequest: pipeline.merge_request,
    }
    const known = {
      job,
      token,
      externalUrl: externalUrl(),
      registry: addresses.registry,
      deployToken: found.deploy_token === null ? undefined : deployTokens.open(found.deploy_token),
      repositoryUrl,
      project,
      predefined: predefinedVariables(
        addresses,
        project,
        facts,
        about,
        commits.get(pipeline.sha),
        settings.configPath,
      ),
      ofProject,
      given: [...job.pipeline_variables, ...(job.manual_variables ?? [])].map((sealed) => this.#open(sealed)),
    }
    const dotenv = await this.#dotenv(earlier)
    let expanded = jobVariables({ ...known, dotenv })
    if ('error' in expanded) return { reason: 'unknown_failure', because: expanded.error }
    let dependencies = earlier
    if (job.definition.crossNeeds.length > 0) {
      const { variables } = expanded
      const actor = { ...entered.actor, job: { id: job.id, projectId: project.id, pipelineId: pipeline.id } }
      const cross = await crossDependencies(db.reader, actor, job, {
        expand: (text) => expandText(text, variables),
        keeps: instance.values.keep_latest_artifact,
      })
      if (cross === 'missing') return { reason: 'missing_dependency_failure' }
      dependencies = [...earlier, ...cross]
      expanded = jobVariables({ ...known, dotenv: [...dotenv, ...(await this.#dotenv(cross))] })
    }
    if ('error' in expanded) return { reason: 'unknown_failure', because: expanded.error }
    await this.#keepEnvironment(job, expanded.variables)
    const secrets = secretsFor(job.definition, expanded.variables, features)
    if ('reason' in secrets) return secrets
    const identityTokens = await this.#identityTokens(
      job,
      project,
      user,
      settings.configPath,
      expanded.variables,
    )
    const ref = job.tag ? tagRef(job.ref) : branchRef(job.ref)
    const parts = {
      job,
      token,
      sessionUrl: session?.url ?? null,
      project,
      settings,
      repositoryUrl,
      registry: addresses.registry,
      refExists: ref !== undefined && refs.find(ref) !== undefined,
      instanceUuid: this.#instanceUuid,
      pipelineRefExists: refs.find(pipelineRef(pipeline.id)) !== undefined,
      variables: [...expanded.variables, ...identityTokens],
      secrets: secrets.given,
      dependencies: dependencies.filter(({ filename }) => filename !== null),
      cacheKeys: await Promise.all(
        job.definition.cache.map((cache) => cacheKeys(repository, job, cache, settings.separatedCaches)),
      ),
      tokenPrefixes: [instance.values.personal_access_token_prefix ?? '', 'glcbt-', 'glrt-'].filter(
        (prefix) => prefix !== '',
      ),
      now: new Date(),
    }
    return { payload: payload(parts) }
  }

  /** What the job's environment will be: values in which a dollar is a dollar may be put in, nobody expands them again. */
  async #keepEnvironment({ id, definition }: HandedJob, variables: readonly Variable[]): Promise<void> {
    const { url = null, autoStopIn = null } = definition.environment ?? {}
    if (url === null && autoStopIn === null) return
    const final = variables.filter(({ file }) => file !== true)
    const told = final.findLast(({ key }) => key === 'CI_ENVIRONMENT_URL')?.value ?? url
    await store.keepEnvironment(this.#services.db.writer, id, {
      url: url === null ? null : expandText(told!, final),
      stopIn: autoStopIn === null ? null : expandText(autoStopIn, final),
    })
  }

  /** The variables by which a job proves to others what it is. */
  async #identityTokens(
    job: HandedJob,
    project: ProjectSubject,
    user: User,
    configPath: string,
    variables: readonly Variable[],
  ): Promise<PayloadVariable[]> {
    const wanted = Object.entries(job.definition.idTokens)
    if (wanted.length === 0) return []
    const expanded = (text: string): string => expandText(text, variables)
    const audiences = Object.fromEntries(
      wanted.map(([name, { aud }]) => [name, typeof aud === 'string' ? expanded(aud) : aud.map(expanded)]),
    )
    const { environment } = job.definition
    const tier = environment?.deploymentTier ?? job.environment?.tier ?? null
    const identity = { ...job, job, project, user, environment, tier, configPath }
    const tokens = await this.#services.identity.sign(identity, audiences)
    return Object.entries(tokens).map(([key, value]) => ({
      key,
      value,
      raw: true,
      public: false,
      masked: true,
    }))
  }

  #open({ key, secret, variable_type, raw }: SealedVariable): Variable {
    return {
      key,
      value: this.#services.cipher.open(secret, pipelineSecretContext),
      ...(variable_type === 'file' && { file: true }),
      ...(raw === true && { raw }),
    }
  }

  async #dotenv(dependencies: readonly EarlierJob[]): Promise<Variable[]> {
    const lists = await Promise.all(
      dependencies.map(async ({ dotenv }) =>
        dotenv === null ? [] : readDotenv(await buffer(this.#services.blobs.read(dotenv))),
      ),
    )
    return lists.flat()
  }
}

function cloneUrl(externalUrl: string, fullPath: string, token: string): string {
  const url = new URL(`${externalUrl}/${fullPath}.git`)
  url.username = 'gitlab-ci-token'
  url.password = token
  return url.href
}
