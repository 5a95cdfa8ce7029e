/** The job as `POST /jobs/request` hands it out. Lists may be absent or null from older servers. */
export interface JobPayload {
  id: number
  token: string
  job_info: { id?: number; name: string; stage?: string; project_id: number; project_full_path?: string }
  git_info: GitInfo
  runner_info?: { timeout?: number | null } | null
  inputs?: JobInput[] | null
  variables?: JobVariable[] | null
  steps?: Step[] | null
  hooks?: { name: string; script: string[] }[] | null
  artifacts?: ArtifactEntry[] | null
  cache?: CacheEntry[] | null
  credentials?: { password?: string | null }[] | null
  features?: { trace_sections?: boolean; token_mask_prefixes?: string[]; failure_reasons?: string[] } | null
  dependencies?: Dependency[] | null
}

export interface GitInfo {
  repo_url: string
  ref: string
  sha: string
  ref_type?: string
  refspecs?: string[] | null
  depth?: number | null
  repo_object_format?: string | null
}

export interface JobVariable {
  key: string
  value: string
  public?: boolean
  masked?: boolean
  file?: boolean
  raw?: boolean
}

export interface JobInput {
  key: string
  value: { content: unknown; type?: string }
}

export type When = 'on_success' | 'on_failure' | 'always'

export interface Step {
  name: string
  script: string[]
  timeout?: number | null
  when?: When | null
  allow_failure?: boolean
}

export interface ArtifactEntry {
  name?: string | null
  untracked?: boolean | null
  paths?: string[] | null
  exclude?: string[] | null
  when?: When | null
  expire_in?: string | null
  artifact_type?: string | null
  artifact_format?: string | null
  access?: string | null
}

export interface CacheEntry {
  key?: string | null
  untracked?: boolean | null
  paths?: string[] | null
  policy?: string | null
  when?: When | null
  fallback_keys?: string[] | null
}

export interface Dependency {
  id: number
  name: string
  token: string
  artifacts_file?: { filename: string; size?: number } | null
}

/** Throws a TypeError when the answer is not a job. */
export function parseJob(text: string): JobPayload {
  const job = JSON.parse(text) as Partial<JobPayload> | null
  if (!Number.isSafeInteger(job?.id) || typeof job?.token !== 'string')
    throw new TypeError('not a job: id or token')
  if (typeof job.job_info !== 'object' || typeof job.git_info !== 'object')
    throw new TypeError('not a job: info')
  return job as JobPayload
}

export function due(when: When | null | undefined, succeeded: boolean) {
  return when === 'always' || (when === 'on_failure' ? !succeeded : succeeded)
}
