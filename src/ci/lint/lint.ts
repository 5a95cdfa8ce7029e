import type { JobConfig, ParsedConfig } from '../config/config.ts'
import { mergedYaml, type ParseResult } from '../config/parse.ts'
import type { Origin } from '../include/asking.ts'
import type { IncludeFacts } from '../include/fetch.ts'
import type { CompiledJob, CompileResult } from '../types.ts'

/** The answer of `/ci/lint`. */
export interface LintAnswer {
  valid: boolean
  /** Null where the file could not even be put together. */
  merged_yaml: string | null
  errors: string[]
  warnings: string[]
  includes: LintInclude[]
  /** Only when asked for. */
  jobs?: LintJob[]
}

export interface LintInclude {
  type: IncludeFacts['type']
  location: string
  blob: string | null
  raw: string | null
  extra: Record<string, unknown>
  context_project: string | null
  context_sha: string | null
}

export interface LintJob {
  name: string
  stage: string
  before_script: string[]
  script: string[]
  after_script: string[]
  tag_list: string[]
  environment: string | null
  when: string
  allow_failure: boolean
  /** These three are the file's own view and missing from a dry run. */
  only?: unknown
  except?: unknown
  needs?: { name: string; artifacts: boolean; optional: boolean }[] | null
}

export interface LintOptions {
  /** Address of the service's pages, without a slash at the end. */
  url: string
  includeJobs?: boolean
}

const mostWarnings = 25

/**
 * What there is to say about a configuration. With a compile result (a dry run) its jobs and errors count; without one
 * all jobs of the file do, whatever their rules say.
 */
export function lintAnswer(
  parsed: ParseResult,
  compiled: CompileResult | null,
  { url, includeJobs = false }: LintOptions,
): LintAnswer {
  const config = 'config' in parsed ? parsed.config : null
  const { merged, includes = [] } = config ?? (parsed as Exclude<ParseResult, { config: ParsedConfig }>)
  const errors =
    'errors' in parsed ? parsed.errors : compiled !== null && 'errors' in compiled ? compiled.errors : []
  const warnings = compiled?.warnings ?? config?.warnings ?? []
  const found = config !== null && errors.length === 0 ? jobsOf(config, compiled) : []
  return {
    valid: errors.length === 0,
    merged_yaml: merged === undefined ? null : mergedYaml({ merged }),
    errors,
    warnings: warnings.slice(0, mostWarnings),
    includes: includes.map((include) => includeOf(include, url)),
    ...(includeJobs && { jobs: found }),
  }
}

function jobsOf(config: ParsedConfig, compiled: CompileResult | null): LintJob[] {
  const written = new Map(config.jobs.map((job) => [job.name, job]))
  if (compiled !== null) {
    const jobs = 'errors' in compiled ? [] : compiled.jobs
    return jobs.map((job) => ofPipeline(job, written.get(job.name)!))
  }
  return [...config.jobs].sort((a, b) => a.stageIndex - b.stageIndex).map(ofFile)
}

function ofPipeline(job: CompiledJob, config: JobConfig): LintJob {
  return {
    name: job.name,
    stage: job.stage,
    ...scriptsOf(config),
    tag_list: job.tags,
    environment: job.environment?.name ?? null,
    when: job.when,
    allow_failure: job.allowFailure,
  }
}

function ofFile(config: JobConfig): LintJob {
  const { name, stage, entry, written, needs } = config
  const { when = 'on_success', allowFailure } = entry
  return {
    name,
    stage,
    ...scriptsOf(config),
    tag_list: entry.tags ?? [],
    only: written.only,
    except: written.except,
    environment: entry.environment?.name ?? null,
    when,
    allow_failure: typeof allowFailure === 'object' ? false : (allowFailure ?? when === 'manual'),
    needs,
  }
}

function scriptsOf({ entry }: JobConfig): Pick<LintJob, 'before_script' | 'script' | 'after_script'> {
  const { beforeScript = [], script = [], afterScript = [] } = entry
  return { before_script: beforeScript, script, after_script: afterScript }
}

function includeOf({ type, location, at, extra, from }: IncludeFacts, url: string): LintInclude {
  const remote = type === 'remote' ? location : null
  return {
    type,
    location,
    blob: at && link(url, 'blob', at),
    raw: at === null || type === 'component' ? remote : link(url, 'raw', at),
    extra,
    context_project: from?.project ?? null,
    context_sha: from?.sha ?? null,
  }
}

function link(url: string, page: 'blob' | 'raw', { project, sha, path }: Origin & { path: string }): string {
  return encodeURI(`${url}/${project}/-/${page}/${sha}/${path}`)
}
