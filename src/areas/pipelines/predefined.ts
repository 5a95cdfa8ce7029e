import { FeatureLevel, visibilityName, type ProjectSubject, type User } from '../../access/index.ts'
import { refSlug, type PipelineSource, type Variable } from '../../ci/index.ts'
import type { Commit } from '../../git/index.ts'
import { apiVersion, revision } from '../metadata/index.ts'

/** What a project tells of itself to its jobs besides what access knows. */
export interface ProjectFacts {
  readonly description: string | null
  readonly topics: readonly string[]
  readonly rootNamespace: string
  readonly namespace: string
}

/** A job that started a pipeline, and where it belongs. */
export interface Upstream {
  readonly job_id: number
  readonly pipeline_id: number
  readonly project_id: number
}

export interface PipelineFacts {
  readonly source: PipelineSource
  readonly ref: string
  readonly tag: boolean
  readonly sha: string
  readonly beforeSha: string
  readonly protected: boolean
  /** The job whose token started it. */
  readonly upstream: Upstream | null
  /** Of the schedule that started it. */
  readonly scheduleDescription?: string | null
}

/** Where jobs reach the service. */
export interface Addresses {
  readonly externalUrl: string
  /** Host and port of the registry of images; undefined where it is off. */
  readonly registry: string | undefined
}

export interface AddressServices {
  readonly externalUrl: () => string
  readonly images: { readonly enabled: boolean; readonly host: () => string }
}

export function addressesFor({ externalUrl, images }: AddressServices, project: ProjectSubject): Addresses {
  const on = images.enabled && project.features.container_registry !== FeatureLevel.disabled
  return { externalUrl: externalUrl(), registry: on ? images.host() : undefined }
}

const [major = '', minor = '', patch = ''] = apiVersion.split('.')
const longestMessage = 100_000

/** The variables that are known before a pipeline exists (completions, 7.9: P0), for rules and for jobs alike. */
export function predefinedVariables(
  { externalUrl, registry }: Addresses,
  project: ProjectSubject,
  facts: ProjectFacts,
  pipeline: PipelineFacts,
  commit: Commit | undefined,
  configPath: string,
): Variable[] {
  return Object.entries({
    CI: 'true',
    GITLAB_CI: 'true',
    ...serverVariables(externalUrl),
    ...projectVariables(externalUrl, project, facts),
    ...(registry !== undefined && {
      CI_REGISTRY: registry,
      CI_REGISTRY_IMAGE: `${registry}/${project.fullPath.toLowerCase()}`,
    }),
    CI_CONFIG_PATH: configPath,
    CI_PIPELINE_SOURCE: pipeline.source,
    ...((pipeline.scheduleDescription ?? null) !== null && {
      CI_PIPELINE_SCHEDULE_DESCRIPTION: pipeline.scheduleDescription!,
    }),
    ...(pipeline.source === 'trigger' && { CI_PIPELINE_TRIGGERED: 'true' }),
    ...(pipeline.upstream && upstreamVariables(pipeline.upstream)),
    CI_COMMIT_SHA: pipeline.sha,
    CI_COMMIT_SHORT_SHA: pipeline.sha.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: pipeline.beforeSha,
    CI_COMMIT_REF_NAME: pipeline.ref,
    CI_COMMIT_REF_SLUG: refSlug(pipeline.ref),
    CI_COMMIT_REF_PROTECTED: String(pipeline.protected),
    ...(pipeline.tag ? { CI_COMMIT_TAG: pipeline.ref } : { CI_COMMIT_BRANCH: pipeline.ref }),
    ...(commit !== undefined && commitVariables(commit)),
  }).map(([key, value]) => ({ key, value, ...(key.startsWith('CI_COMMIT_') && { raw: true }) }))
}

function upstreamVariables(upstream: Upstream): Record<string, string> {
  return {
    CI_UPSTREAM_PIPELINE_ID: String(upstream.pipeline_id),
    CI_UPSTREAM_PROJECT_ID: String(upstream.project_id),
    CI_UPSTREAM_JOB_ID: String(upstream.job_id),
  }
}

function serverVariables(externalUrl: string): Record<string, string> {
  const url = new URL(externalUrl)
  const protocol = url.protocol.slice(0, -1)
  const port = url.port === '' ? (protocol === 'https' ? '443' : '80') : url.port
  return {
    CI_SERVER: 'yes',
    CI_SERVER_URL: externalUrl,
    CI_SERVER_HOST: url.hostname,
    CI_SERVER_PORT: port,
    CI_SERVER_PROTOCOL: protocol,
    CI_SERVER_FQDN: url.host,
    CI_SERVER_NAME: 'Guildhall',
    CI_SERVER_REVISION: revision,
    CI_SERVER_VERSION: apiVersion,
    CI_SERVER_VERSION_MAJOR: major,
    CI_SERVER_VERSION_MINOR: minor,
    CI_SERVER_VERSION_PATCH: patch,
    CI_API_V4_URL: `${externalUrl}/api/v4`,
  }
}

function projectVariables(
  externalUrl: string,
  project: ProjectSubject,
  facts: ProjectFacts,
): Record<string, string> {
  return {
    CI_DEFAULT_BRANCH: project.defaultBranch ?? '',
    CI_DEFAULT_BRANCH_SLUG: refSlug(project.defaultBranch ?? ''),
    CI_PROJECT_ID: String(project.id),
    CI_PROJECT_NAME: project.path,
    CI_PROJECT_TITLE: project.name,
    CI_PROJECT_PATH: project.fullPath,
    CI_PROJECT_PATH_SLUG: refSlug(project.fullPath),
    CI_PROJECT_NAMESPACE: facts.namespace,
    CI_PROJECT_NAMESPACE_ID: String(project.namespaceId),
    CI_PROJECT_NAMESPACE_SLUG: refSlug(facts.namespace),
    CI_PROJECT_ROOT_NAMESPACE: facts.rootNamespace,
    CI_PROJECT_URL: `${externalUrl}/${project.fullPath}`,
    CI_PROJECT_VISIBILITY: visibilityName(project.visibility),
    CI_PROJECT_DESCRIPTION: facts.description ?? '',
    CI_PROJECT_TOPICS: facts.topics.slice(0, 20).join(','),
  }
}

function commitVariables(commit: Commit): Record<string, string> {
  const { author, title } = commit
  const message = commit.message.slice(0, longestMessage)
  const paragraph = message.indexOf('\n')
  return {
    CI_COMMIT_TITLE: title,
    CI_COMMIT_MESSAGE: message,
    CI_COMMIT_MESSAGE_IS_TRUNCATED: String(message.length < commit.message.length),
    CI_COMMIT_DESCRIPTION: paragraph === -1 ? '' : message.slice(paragraph).trim(),
    CI_COMMIT_AUTHOR: `${author.name} <${author.email}>`,
    CI_COMMIT_TIMESTAMP: commit.committer.date.toISOString().replace('.000Z', 'Z'),
  }
}

/** Who started the pipeline, or the job by hand. */
export function userVariables(user: User): Variable[] {
  return [
    { key: 'GITLAB_USER_ID', value: String(user.id) },
    { key: 'GITLAB_USER_LOGIN', value: user.username },
    { key: 'GITLAB_USER_NAME', value: user.name, raw: true },
    { key: 'GITLAB_USER_EMAIL', value: user.email },
  ]
}
