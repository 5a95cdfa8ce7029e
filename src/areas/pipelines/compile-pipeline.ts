import {
  compile,
  expandText,
  type CompileContext,
  type CompiledPipeline,
  type ParsedConfig,
  type PipelineSource,
  type Variable,
} from '../../ci/index.ts'
import {
  changedPaths,
  isZero,
  parseOid,
  parseRev,
  resolve,
  type Oid,
  type Repository,
} from '../../git/index.ts'
import type { ConfigSource } from './config-source.ts'
import type { StoredVariable } from './variable-source.ts'

/** Why there is no pipeline, with the reason it would be stored with. */
export interface Refused {
  readonly refused: string
  /** Null: never stored, whatever the source. */
  readonly failureReason: string | null
}

export interface CompileRequest {
  readonly source: PipelineSource
  readonly ref: string
  readonly tag: boolean
  readonly sha: Oid
  readonly beforeSha: string
  readonly projectPath: string
  readonly configPath: string
  readonly predefined: Variable[]
  /** Of the project, then of the pipeline; low to high. */
  readonly given: readonly StoredVariable[]
}

/** From the configuration in the commit to the jobs of the pipeline. */
export async function compilePipeline(
  repository: Repository,
  config: ConfigSource,
  request: CompileRequest,
): Promise<CompiledPipeline | Refused> {
  const parsed = await config.parse(request.configPath)
  if (parsed === undefined) return { refused: 'Missing CI config file', failureReason: null }
  if ('errors' in parsed) return { refused: parsed.errors[0] ?? '', failureReason: 'config_error' }
  const result = compile(parsed.config, await gather(repository, config, parsed.config, request))
  if (!('errors' in result)) return result
  const filtered = result.failureReason.startsWith('filtered_')
  return { refused: result.errors[0] ?? '', failureReason: filtered ? null : result.failureReason }
}

/** What compiling needs to know of the repository. */
export async function gather(
  repository: Repository,
  config: ConfigSource,
  parsed: ParsedConfig,
  request: CompileRequest,
): Promise<CompileContext> {
  const before = parseOid(request.beforeSha)
  const comparable = request.source === 'push' && before !== undefined && !isZero(before)
  return {
    source: request.source,
    ref: request.ref,
    refType: request.tag ? 'tag' : 'branch',
    projectPath: request.projectPath,
    variables: {
      predefined: request.predefined,
      given: request.given.map(({ masked: _, ...variable }) => variable),
    },
    changedPaths: parsed.usesChanges && comparable ? await changes(repository, before, request.sha) : null,
    changedPathsSince: await changesSince(repository, parsed.compareTo, request),
    treePaths: parsed.usesExists ? await config.paths() : [],
  }
}

async function changes(repository: Repository, from: Oid, to: Oid): Promise<string[] | null> {
  try {
    return (await changedPaths(repository, from, to)).map(({ path }) => path)
  } catch {
    // The old head may be gone after a forced push: then there is nothing to compare with.
    return null
  }
}

async function changesSince(
  repository: Repository,
  refs: readonly string[],
  request: CompileRequest,
): Promise<Record<string, string[]>> {
  const entries = await Promise.all(
    refs.map(async (written) => {
      const ref = expandText(written, request.predefined)
      const rev = parseRev(ref)
      const oid = rev && (await resolve(repository, rev))
      const paths = oid && (await changes(repository, oid, request.sha))
      return paths ? [[ref, paths] as const] : []
    }),
  )
  return Object.fromEntries(entries.flat())
}
