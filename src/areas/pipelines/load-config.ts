import type { Actor, ProjectSubject } from '../../access/index.ts'
import {
  childSource,
  configLocation,
  load,
  type Answers,
  type Bridge,
  type CompileContext,
  type ConfigSources,
  type ParseResult,
  type PipelineSource,
  type Questions,
  type Variable,
} from '../../ci/index.ts'
import { changedPaths, isZero, parseOid, type Oid, type Repository } from '../../git/index.ts'
import { configSources, type SourceServices } from './config-sources.ts'
import { comparedWith, type MergeRequestFacts } from './merge-request.ts'
import type { StoredVariable } from './variable-source.ts'

/** Milliseconds after which a configuration that includes itself in circles of other files is given up. */
const longestReading = 30_000

/** What a child pipeline has instead of the file of its commit. */
export interface ChildConfig {
  readonly bridge: Pick<Bridge, 'include' | 'inputs'>
  readonly artifact: (about: Questions['artifact']) => Promise<Answers['artifact']>
}

export interface ConfigRequest {
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly repository: Repository | undefined
  /** Undefined: nothing was pushed yet. */
  readonly sha: Oid | undefined
  /** Stands in for the file of the commit. */
  readonly content?: string | undefined
  readonly source: PipelineSource
  readonly ref: string
  readonly tag: boolean
  readonly beforeSha: string
  readonly mergeRequest?: MergeRequestFacts | null
  /** As the project's setting writes it. */
  readonly configPath: string
  readonly predefined: Variable[]
  /** Of the project, then of the pipeline; low to high. */
  readonly given: readonly StoredVariable[]
  readonly inputs?: Readonly<Record<string, unknown>> | undefined
  readonly child?: ChildConfig | undefined
}

export interface LoadedConfig {
  readonly parsed: ParseResult
  readonly sources: ConfigSources
}

/** The configuration of a commit with all that it includes; undefined where the commit has none. */
export async function loadConfig(
  services: SourceServices & { readonly externalUrl: () => string },
  request: ConfigRequest,
): Promise<LoadedConfig | undefined> {
  const { actor, project, sha, child } = request
  const sources = configSources(services, {
    actor,
    project,
    sha,
    changes: () => pushedPaths(request),
    ...(child && { artifact: child.artifact }),
  })
  const text = child === undefined ? await textOf(request, sources) : childSource(child.bridge)
  if (text === undefined) return undefined
  const { values: limits } = services.settings
  const parsed = await load(text, sources, {
    origin: { project: project.fullPath, sha: sha ?? '' },
    host: new URL(services.externalUrl()).host,
    variables: { predefined: request.predefined, given: [...request.given] },
    ...(request.inputs && { inputs: request.inputs }),
    child: child !== undefined,
    limits: {
      files: limits.ci_max_includes,
      totalBytes: limits.ci_max_total_yaml_size_bytes,
      fileBytes: limits.max_yaml_size_bytes,
      depth: limits.max_yaml_depth,
    },
    signal: AbortSignal.timeout(longestReading),
  })
  return { parsed, sources }
}

/** The configuration as it lies in the commit, or where the project's setting says. */
async function textOf(
  { content, configPath, project, sha }: ConfigRequest,
  sources: ConfigSources,
): Promise<string | undefined> {
  if (content !== undefined) return content
  const location = configLocation(configPath)
  if ('source' in location) return location.source
  const about = { project: project.fullPath, ref: sha ?? null, paths: [location.path], anonymous: false }
  const file = await sources.file(about)
  return 'missing' in file ? undefined : (file.content ?? undefined)
}

/** Paths that a push changed, or a merge request; null where nothing is known of what was there before. */
export async function pushedPaths({
  source,
  beforeSha,
  mergeRequest = null,
  repository,
  sha,
}: ConfigRequest): Promise<CompileContext['changedPaths']> {
  const before = parseOid(mergeRequest === null ? beforeSha : (comparedWith(mergeRequest) ?? ''))
  const known = (source === 'push' || mergeRequest !== null) && before !== undefined && !isZero(before)
  return known && repository && sha ? changesBetween(repository, before, sha) : null
}

export async function changesBetween(repository: Repository, from: Oid, to: Oid): Promise<string[] | null> {
  try {
    return (await changedPaths(repository, from, to)).map(({ path }) => path)
  } catch {
    // The old head may be gone after a forced push: then there is nothing to compare with.
    return null
  }
}
