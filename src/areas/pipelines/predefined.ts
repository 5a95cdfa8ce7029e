import { visibilityName, type ProjectSubject, type User } from '../../access/index.ts'
import { refSlug, type PipelineSource, type Variable } from '../../ci/index.ts'
import type { Commit } from '../../git/index.ts'
import { cutTo } from '../../kernel/lib/characters.ts'
import { mergeRequestVariables, type MergeRequestFacts } from './merge-request.ts'
import { pagesVariables, serverVariables, type Addresses } from './addresses.ts'

/** What a project tells of itself to its jobs besides what access knows. */
export interface ProjectFacts {
  readonly description: string | null
  readonly topics: readonly string[]
  /** That it is written in, most of it first, in lower case. */
  readonly languages: readonly string[]
  readonly rootNamespace: string
  readonly namespace: string
  /** Of the release of the tag that the pipeline is of. */
  readonly releaseDescription: string | null
  /** Open ones from the branch of the pipeline, as `path!iid`. */
  readonly openMergeRequests: readonly string[]
  /** Nothing is to be deployed now. */
  readonly frozen: boolean
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
  /** Its number; before it is made, the one it will have. */
  readonly iid?: number
  /** Who started it, or the job by hand. */
  readonly user?: User | null
  /** That it is for. */
  readonly mergeRequest?: MergeRequestFacts | null
  /** Of an annotated tag. */
  readonly tagMessage?: string | null
}

const longestMessage = 100_000
const longestReleaseDescription = 1024

/** The variables that rules see and jobs get (completions, 7.9: P0 and P1), but for those of a single job. */
export function predefinedVariables(
  addresses: Addresses,
  project: ProjectSubject,
  facts: ProjectFacts,
  pipeline: PipelineFacts,
  commit: Commit | undefined,
  configPath: string,
): Variable[] {
  const { externalUrl, registry } = addresses
  const name = pipeline.mergeRequest?.source.branch ?? pipeline.ref
  return Object.entries({
    CI: 'true',
    GITLAB_CI: 'true',
    ...serverVariables(addresses),
    ...projectVariables(externalUrl, project, facts),
    ...pagesVariables(addresses, project.fullPath),
    ...(registry !== undefined && {
      CI_REGISTRY: registry,
      CI_REGISTRY_IMAGE: `${registry}/${project.fullPath.toLowerCase()}`,
    }),
    CI_CONFIG_PATH: configPath,
    CI_PIPELINE_SOURCE: pipeline.source,
    ...(facts.frozen && { CI_DEPLOY_FREEZE: 'true' }),
    ...((pipeline.scheduleDescription ?? null) !== null && {
      CI_PIPELINE_SCHEDULE_DESCRIPTION: pipeline.scheduleDescription!,
    }),
    ...(pipeline.source === 'trigger' && { CI_PIPELINE_TRIGGERED: 'true' }),
    ...(pipeline.upstream && upstreamVariables(pipeline.upstream)),
    CI_COMMIT_SHA: pipeline.sha,
    CI_COMMIT_SHORT_SHA: pipeline.sha.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: pipeline.beforeSha,
    CI_COMMIT_REF_NAME: name,
    CI_COMMIT_REF_SLUG: refSlug(name),
    CI_COMMIT_REF_PROTECTED: String(pipeline.protected),
    ...refVariables(pipeline, facts),
    ...(commit !== undefined && commitVariables(commit)),
    ...(pipeline.iid !== undefined && { CI_PIPELINE_IID: String(pipeline.iid) }),
    ...(pipeline.user != null && userVariables(pipeline.user)),
  }).map(([key, value]) => ({ key, value, ...(written.test(key) && { raw: true }) }))
}

/** What people wrote, in which a dollar is a dollar. */
const written =
  /^CI_(COMMIT_|RELEASE_DESCRIPTION$|PROJECT_(TITLE|DESCRIPTION|TOPICS)$|PIPELINE_SCHEDULE_DESCRIPTION$)|^CI_MERGE_REQUEST_|^GITLAB_USER_NAME$/

function refVariables(
  { ref, tag, tagMessage, mergeRequest = null }: PipelineFacts,
  { releaseDescription, openMergeRequests }: ProjectFacts,
): Record<string, string> {
  const open = openMergeRequests.length > 0 && { CI_OPEN_MERGE_REQUESTS: openMergeRequests.join(',') }
  if (mergeRequest !== null) return { ...mergeRequestVariables(mergeRequest), ...open }
  if (!tag) return { CI_COMMIT_BRANCH: ref, ...open }
  return {
    CI_COMMIT_TAG: ref,
    CI_COMMIT_TAG_MESSAGE: tagMessage ?? '',
    ...(releaseDescription !== null && {
      CI_RELEASE_DESCRIPTION: cutTo(releaseDescription, longestReleaseDescription),
    }),
  }
}

function upstreamVariables(upstream: Upstream): Record<string, string> {
  return {
    CI_UPSTREAM_PIPELINE_ID: String(upstream.pipeline_id),
    CI_UPSTREAM_PROJECT_ID: String(upstream.project_id),
    CI_UPSTREAM_JOB_ID: String(upstream.job_id),
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
    CI_PROJECT_REPOSITORY_LANGUAGES: facts.languages.slice(0, 5).join(','),
    CI_PROJECT_CLASSIFICATION_LABEL: labelOf(project),
  }
}

function labelOf({ settings }: ProjectSubject): string {
  const label = settings['external_authorization_classification_label']
  return typeof label === 'string' ? label : ''
}

function commitVariables(commit: Commit): Record<string, string> {
  const { author, title } = commit
  const message = cutTo(commit.message, longestMessage)
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

function userVariables(user: User): Record<string, string> {
  return {
    GITLAB_USER_ID: String(user.id),
    GITLAB_USER_LOGIN: user.username,
    GITLAB_USER_NAME: user.name,
    GITLAB_USER_EMAIL: user.email,
  }
}
