import {
  compile,
  expandText,
  otherTreeKey,
  type CompileContext,
  type CompiledPipeline,
  type ConfigSources,
  type ParsedConfig,
} from '../../ci/index.ts'
import { parseRev, resolve } from '../../git/index.ts'
import type { SourceServices } from './config-sources.ts'
import { changesBetween, loadConfig, pushedPaths, type ConfigRequest } from './load-config.ts'

/** Why there is no pipeline, with the reason it would be stored with. */
export interface Refused {
  readonly refused: string
  /** Null: never stored, whatever the source. */
  readonly failureReason: string | null
}

const mostDeployments = 500

/** A pipeline to be, and whether the number that it was thought to have went into it. */
export interface Compiled extends CompiledPipeline {
  readonly usesIid: boolean
}

/** From the configuration in the commit to the jobs of the pipeline. */
export async function compilePipeline(
  services: SourceServices & { readonly externalUrl: () => string },
  request: ConfigRequest,
): Promise<Compiled | Refused> {
  const loaded = await loadConfig(services, request)
  if (loaded === undefined) return { refused: 'Missing CI config file', failureReason: null }
  const { parsed, sources } = loaded
  if ('errors' in parsed) return { refused: parsed.errors[0] ?? '', failureReason: 'config_error' }
  const context = await gather(sources, parsed.config, request)
  const mostNeeds = services.settings.limits.ci_needs_size_limit
  const result = compile(parsed.config, { ...context, mostNeeds })
  if ('errors' in result) {
    const filtered = result.failureReason.startsWith('filtered_')
    return { refused: result.errors[0] ?? '', failureReason: filtered ? null : result.failureReason }
  }
  const { ci_pipeline_size: most } = services.settings.limits
  if (most > 0 && result.jobs.length > most) {
    return { refused: tooManyJobs(most, services.externalUrl()), failureReason: 'size_limit_exceeded' }
  }
  const deployments = result.jobs.filter(({ environment }) => environment?.action === 'start').length
  if (deployments > mostDeployments) {
    return {
      refused: `Pipeline has too many deployments! Requested ${deployments}, but the limit is ${mostDeployments}.`,
      failureReason: 'deployments_limit_exceeded',
    }
  }
  return { ...result, usesIid: JSON.stringify(parsed.config.merged).includes('CI_PIPELINE_IID') }
}

function tooManyJobs(most: number, externalUrl: string): string {
  return (
    `The number of jobs has exceeded the limit of ${most}. Try splitting the configuration with ` +
    `parent-child-pipelines ${externalUrl}/help/ci/pipelines/downstream_pipelines.md`
  )
}

/** What compiling needs to know of the repository. */
export async function gather(
  sources: ConfigSources,
  parsed: ParsedConfig,
  request: ConfigRequest,
): Promise<CompileContext> {
  const { project, sha } = request
  const own = { project: project.fullPath, ref: sha ?? null, anonymous: false }
  return {
    source: request.source,
    ref: request.ref,
    refType: request.tag ? 'tag' : 'branch',
    projectPath: project.fullPath,
    variables: { predefined: request.predefined, given: [...request.given] },
    changedPaths: parsed.usesChanges ? await pushedPaths(request) : null,
    changedPathsSince: await changesSince(parsed.compareTo, request),
    treePaths: parsed.usesExists ? ((await sources.tree(own)) ?? []) : [],
    otherTrees: await otherTrees(sources, parsed.otherTrees, request),
  }
}

async function changesSince(
  refs: readonly string[],
  { repository, predefined, sha }: ConfigRequest,
): Promise<Record<string, string[]>> {
  const entries = await Promise.all(
    refs.map(async (written) => {
      const ref = expandText(written, predefined)
      const rev = parseRev(ref)
      const oid = rev && repository && (await resolve(repository, rev))
      const paths = oid && sha && (await changesBetween(repository, oid, sha))
      return paths ? [[ref, paths] as const] : []
    }),
  )
  return Object.fromEntries(entries.flat())
}

/** The files of other projects in which a rule looks; those that the user may not see have none. */
async function otherTrees(
  sources: ConfigSources,
  wanted: ParsedConfig['otherTrees'],
  { predefined }: ConfigRequest,
): Promise<Record<string, string[]>> {
  const entries = await Promise.all(
    wanted.map(async (written) => {
      const project = expandText(written.project, predefined)
      const ref = written.ref === null ? null : expandText(written.ref, predefined)
      // Without the ref, the default branch shows that it is not the project that is missing.
      for (const at of ref === null ? [null] : [ref, null]) {
        const paths = await sources.tree({ project: project.toLowerCase(), ref: at, anonymous: false })
        if (paths !== null) return [[otherTreeKey(project, at), paths] as const]
      }
      return []
    }),
  )
  return Object.fromEntries(entries.flat())
}
