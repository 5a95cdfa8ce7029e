import { visibilityName, type ProjectSubject, type User } from '../../access/index.ts'
import type { Environment } from '../../ci/index.ts'

/** Of whom and what an identity token speaks. */
export interface JobIdentity {
  readonly job: { readonly id: number; readonly timeout: number | null }
  readonly pipeline: { readonly id: number; readonly source: string; readonly sha: string }
  readonly ref: string
  readonly tag: boolean
  readonly protected: boolean
  readonly project: ProjectSubject
  readonly user: User
  /** Paths of the groups that the user is a direct member of; null where there are too many to tell. */
  readonly groups: readonly string[] | null
  readonly runner: { readonly id: number }
  readonly environment: Pick<Environment, 'expandedName' | 'action'> | null
  /** Of the environment. */
  readonly tier: string | null
  readonly configPath: string
}

const accessLevels: readonly [level: number, name: string][] = [
  [50, 'owner'],
  [40, 'maintainer'],
  [30, 'developer'],
  [20, 'reporter'],
  [15, 'planner'],
  [10, 'guest'],
]

/** Claims that the subject of a token can be composed of, in any order (project setting). */
export type SubjectPart = 'project_path' | 'ref_type' | 'ref'

/** What a token says of its job, without what makes it a token (completions, 7.10). Numbers are text but for the runner's. */
export function claims(identity: JobIdentity, externalUrl: string): Record<string, unknown> {
  const { job, pipeline, project, user, environment, groups } = identity
  const namespacePath = project.fullPath.slice(0, project.fullPath.lastIndexOf('/'))
  const refPath = `refs/${identity.tag ? 'tags' : 'heads'}/${identity.ref}`
  const host = new URL(externalUrl).host
  return {
    namespace_id: String(project.namespaceId),
    namespace_path: namespacePath,
    project_id: String(project.id),
    project_path: project.fullPath,
    job_project_id: String(project.id),
    job_project_path: project.fullPath,
    job_namespace_id: String(project.namespaceId),
    job_namespace_path: namespacePath,
    user_id: String(user.id),
    user_login: user.username,
    user_email: user.email,
    user_access_level: accessLevels.find(([level]) => project.role >= level)?.[1] ?? null,
    pipeline_id: String(pipeline.id),
    pipeline_source: pipeline.source,
    job_id: String(job.id),
    job_source: pipeline.source,
    ref: identity.ref,
    ref_type: identity.tag ? 'tag' : 'branch',
    ref_path: refPath,
    ref_protected: String(identity.protected),
    ...(environment !== null && {
      environment: environment.expandedName,
      environment_protected: 'false',
      deployment_tier: identity.tier,
      environment_action: environment.action,
    }),
    ...(groups !== null && { groups_direct: groups }),
    runner_id: identity.runner.id,
    runner_environment: 'self-hosted',
    sha: pipeline.sha,
    project_visibility: visibilityName(project.visibility),
    ci_config_ref_uri: `${host}/${project.fullPath}//${identity.configPath}@${refPath}`,
    ci_config_sha: pipeline.sha,
  }
}

/** `project_path:a/b:ref_type:branch:ref:main` */
export function subjectOf(parts: readonly SubjectPart[], all: Readonly<Record<string, unknown>>): string {
  return parts.map((part) => `${part}:${String(all[part])}`).join(':')
}
