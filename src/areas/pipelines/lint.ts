import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  compile,
  configLocation,
  lintAnswer,
  load,
  type CompileResult,
  type LintAnswer,
  type ParseResult,
} from '../../ci/index.ts'
import { findCommit, zeroOid, type Oid } from '../../git/index.ts'
import { readable, resolveName } from '../repository/index.ts'
import { ciSettings } from './ci-settings.ts'
import { gather, type CompileRequest } from './compile-pipeline.ts'
import { configSources } from './config-sources.ts'
import { ConfigSource } from './config-source.ts'
import { findRef, type FoundRef } from './find-ref.ts'
import type { PipelineServices } from './index.ts'
import { predefinedVariables } from './predefined.ts'
import { projectFacts } from './variable-source.ts'

/** Milliseconds after which a configuration that includes itself in circles of other files is given up. */
const longestReading = 30_000

export interface LintRequest {
  readonly actor: Actor
  readonly project: ProjectSubject
  /** The configuration; without it the one of the commit is looked at. */
  readonly content?: string
  /** The commit whose files are included; without it that of the ref. */
  readonly sha?: Oid
  /** Branch or tag that a pipeline would be for; the default branch unless it is given. */
  readonly ref: string | undefined
  /** Whether to go on as for a push to the ref. */
  readonly dryRun: boolean
  readonly includeJobs: boolean
}

type Refused = { readonly refused: string }

/** What there is to say about a configuration, in the project it is for. */
export async function lint(services: PipelineServices, request: LintRequest): Promise<LintAnswer> {
  const { places, externalUrl, settings } = services
  const { actor, project, dryRun, includeJobs } = request
  const repository = await readable(places, project)
  const ref = await refOf(services, request)
  const sha = request.sha ?? ref?.sha ?? (await resolveName(repository, undefined))
  const { configPath } = ciSettings(project)
  const sources = configSources(services, { actor, project, sha })

  const url = externalUrl()
  const about = {
    source: 'push',
    ref: ref?.name ?? project.defaultBranch ?? '',
    tag: ref?.tag ?? false,
    beforeSha: zeroOid,
    protected: ref !== undefined && (await services.refProtection.isProtected(services.db.reader, project.id, ref)),
    upstream: null,
  } as const
  const { facts, variables } = await projectFacts(services.db.reader, services.cipher, project.id, {
    protectedRef: about.protected,
  })
  const commit = repository === undefined || sha === undefined ? undefined : await findCommit(repository, sha)
  const predefined = predefinedVariables(url, project, facts, { ...about, sha: sha ?? '' }, commit, configPath)

  const origin = { project: project.fullPath, sha: sha ?? '' }
  const location = request.content === undefined ? configLocation(configPath) : { source: request.content }
  const file =
    'path' in location
      ? await sources.file({ ...origin, ref: origin.sha, paths: [location.path], anonymous: false })
      : { content: location.source }
  const parsed = await load('missing' in file ? '' : (file.content ?? ''), sources, {
    origin,
    host: new URL(url).host,
    variables: { predefined, given: variables },
    limits: { totalBytes: settings.values.ci_max_total_yaml_size_bytes },
    signal: AbortSignal.timeout(longestReading),
  })
  const options = { url, includeJobs }
  if (!dryRun || !('config' in parsed)) return lintAnswer(parsed, null, options)

  const refused = await refusal(services, request, ref)
  if (refused !== undefined) return lintAnswer(withError(parsed, refused), null, options)
  const config = new ConfigSource(repository!, sha!, settings.values.ci_max_total_yaml_size_bytes)
  const compileRequest: CompileRequest = {
    ...about,
    sha: sha!,
    projectPath: project.fullPath,
    configPath,
    predefined,
    given: variables,
  }
  const compiled: CompileResult = compile(
    parsed.config,
    await gather(repository!, config, parsed.config, compileRequest),
  )
  return lintAnswer(parsed, compiled, options)
}

async function refOf(
  { places }: PipelineServices,
  { project, ref }: LintRequest,
): Promise<FoundRef | undefined> {
  const name = ref ?? project.defaultBranch
  const repository = await readable(places, project)
  if (name === null || repository === undefined) return undefined
  const found = await findRef(repository, project.refsVersion, name)
  return typeof found === 'string' ? undefined : found
}

/** Why the push that a dry run stands for would make no pipeline, whatever the configuration. */
async function refusal(
  { db, refProtection }: PipelineServices,
  { actor, project }: LintRequest,
  ref: FoundRef | undefined,
): Promise<Refused | undefined> {
  if (!may(actor, 'create_pipeline', project)) {
    return { refused: 'Insufficient permissions to create a new pipeline' }
  }
  if (ref === undefined) return { refused: 'Reference not found' }
  if (await refProtection.mayRun(db.reader, actor, project, ref)) return undefined
  return {
    refused:
      `You do not have sufficient permission to run a pipeline on '${ref.name}'. ` +
      'Please select a different branch or contact your administrator for assistance.',
  }
}

function withError(parsed: Extract<ParseResult, { config: unknown }>, { refused }: Refused): ParseResult {
  const { merged, includes } = parsed.config
  return { errors: [refused], merged, includes }
}
