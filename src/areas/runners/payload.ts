import { hash } from 'node:crypto'
import { jobLogin, type ProjectSubject } from '../../access/index.ts'
import { failureReasons, type ArtifactUpload, type Image, type Service } from '../../ci/index.ts'
import { pipelineRef, type CiSettings } from '../pipelines/index.ts'
import type { CacheKeys } from './cache-keys.ts'
import type { EarlierJob, HandedJob } from './job-row.ts'
import type { PayloadVariable } from './job-variables.ts'

export interface PayloadParts {
  readonly job: HandedJob
  readonly token: string
  /** That its runner announced. */
  readonly sessionUrl: string | null
  readonly project: ProjectSubject
  readonly settings: CiSettings
  readonly repositoryUrl: string
  /** Host of the registry of images; undefined where it is off. */
  readonly registry: string | undefined
  /** The branch or tag is still there. */
  readonly refExists: boolean
  /** As is the ref of the pipeline. */
  readonly pipelineRefExists: boolean
  readonly variables: readonly PayloadVariable[]
  /** That its runner fetches; none where the job has none. */
  readonly secrets: Readonly<Record<string, object>>
  readonly dependencies: readonly EarlierJob[]
  /** The keys of the job's caches, in their order. */
  readonly cacheKeys: readonly CacheKeys[]
  readonly tokenPrefixes: readonly string[]
  readonly instanceUuid: string
  readonly now: Date
}

const mostCounted = 5

/** The job as its runner gets it (completions, 8.3). */
export function payload(parts: PayloadParts): Record<string, unknown> {
  const { job, token, project, settings, variables } = parts
  const { definition } = job
  const queuedAt = Date.parse(job.queued_at ?? job.started_at)
  return {
    id: job.id,
    token,
    allow_git_fetch: settings.gitStrategy === 'fetch',
    job_info: {
      id: job.id,
      name: job.name,
      stage: job.stage,
      project_id: project.id,
      project_name: project.path,
      project_full_path: project.fullPath,
      namespace_id: project.namespaceId,
      root_namespace_id: project.line[0] ?? project.namespaceId,
      organization_id: 1,
      instance_id: hash('sha256', parts.instanceUuid, 'base64'),
      instance_uuid: parts.instanceUuid,
      user_id: job.user_id,
      scoped_user_id: null,
      time_in_queue_seconds: Math.max(0, Math.floor((parts.now.getTime() - queuedAt) / 1000)),
      project_jobs_running_on_instance_runners_count: runningOnInstanceRunners(job),
      queue_size: 1,
      queue_depth: 1,
    },
    git_info: gitInfo(parts),
    runner_info: { timeout: job.timeout, runner_session_url: parts.sessionUrl },
    inputs: Object.entries(definition.inputs).map(([key, content]) => ({
      key,
      value: { content, type: Array.isArray(content) ? 'array' : typeof content },
    })),
    variables: variables.map(({ key, value, public: isPublic, masked, file, raw }) => ({
      key,
      value,
      public: isPublic,
      masked,
      ...(file === true && { file }),
      ...(raw === true && { raw }),
    })),
    ...(definition.run === null
      ? {
          steps: definition.steps.map(({ name, script, when, allowFailure }) => ({
            name,
            script,
            timeout: job.timeout,
            when,
            allow_failure: allowFailure,
          })),
        }
      : { run: JSON.stringify(definition.run) }),
    hooks: definition.hooks,
    image: definition.image === null ? null : image(definition.image),
    services: definition.services.map(service),
    artifacts: definition.artifacts.map(artifact),
    cache: definition.cache.map((cache, index) => ({
      key: parts.cacheKeys[index]!.key,
      untracked: cache.untracked,
      paths: cache.paths,
      policy: cache.policy,
      when: cache.when,
      fallback_keys: parts.cacheKeys[index]!.fallbackKeys,
    })),
    ...(Object.keys(parts.secrets).length > 0 && { secrets: parts.secrets }),
    credentials:
      parts.registry === undefined
        ? []
        : [{ type: 'registry', url: parts.registry, username: jobLogin, password: token }],
    features: {
      trace_sections: true,
      token_mask_prefixes: parts.tokenPrefixes,
      failure_reasons: Object.keys(failureReasons),
    },
    dependencies: parts.dependencies.map(({ id, name, filename, size }) => ({
      id,
      name,
      token,
      ...(filename !== null && { artifacts_file: { filename, size } }),
    })),
  }
}

/** As runners of the field label their measures: few enough are counted, and only instance runners are asked. */
function runningOnInstanceRunners({ runner, running }: HandedJob): string {
  if (runner.runner_type !== 'instance_type') return '+Inf'
  return running < mostCounted ? String(running) : `${mostCounted}+`
}

/** First the pipeline's ref, by which the commit is there whatever became of the branch; without it, by its id. */
function gitInfo({
  job,
  settings,
  repositoryUrl,
  refExists,
  pipelineRefExists,
  variables,
}: PayloadParts): Record<string, unknown> {
  const { pipeline, ref, tag } = job
  const wanted = Number(variables.findLast(({ key }) => key === 'GIT_DEPTH')?.value ?? settings.gitDepth)
  const depth = Number.isSafeInteger(wanted) && wanted >= 0 ? wanted : settings.gitDepth
  const own = pipelineRef(pipeline.id)
  const refspecs = [`+${pipelineRefExists ? own : pipeline.sha}:${own}`]
  if (depth === 0) refspecs.push('+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*')
  else if (refExists) {
    refspecs.push(
      tag ? `+refs/tags/${ref}:refs/tags/${ref}` : `+refs/heads/${ref}:refs/remotes/origin/${ref}`,
    )
  }
  return {
    repo_url: repositoryUrl,
    ref,
    sha: pipeline.sha,
    before_sha: pipeline.before_sha,
    ref_type: tag ? 'tag' : 'branch',
    refspecs,
    depth,
    repo_object_format: 'sha1',
    protected: job.protected,
  }
}

function image({ name, entrypoint, pullPolicy, executorOpts }: Image): Record<string, unknown> {
  return { name, entrypoint, ports: [], executor_opts: executorOpts, pull_policy: pullPolicy }
}

function service(of: Service): Record<string, unknown> {
  return {
    ...image(of),
    alias: of.alias,
    command: of.command,
    variables: of.variables.map(({ key, value }) => ({ key, value, public: true, masked: false })),
  }
}

function artifact(upload: ArtifactUpload): Record<string, unknown> {
  return {
    name: upload.name,
    // Reports are named files.
    ...(upload.artifactType === 'archive' && { untracked: upload.untracked }),
    paths: upload.paths,
    ...(upload.exclude.length > 0 && { exclude: upload.exclude }),
    when: upload.when,
    expire_in: upload.expireIn,
    artifact_type: upload.artifactType,
    artifact_format: upload.artifactFormat,
  }
}
