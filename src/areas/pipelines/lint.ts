import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import {
  compile,
  configLocation,
  lintAnswer,
  load,
  type ConfigSources,
  type LintAnswer,
  type Origin,
} from '../../ci/index.ts'
import { findCommit, zeroOid, type Oid } from '../../git/index.ts'
import { readable, resolveName } from '../repository/index.ts'
import { ciSettings } from './ci-settings.ts'
import { gather } from './compile-pipeline.ts'
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

/** What there is to say about a configuration, in the project it is for. */
export async function lint(services: PipelineServices, request: LintRequest): Promise<LintAnswer> {
  const { db, places, externalUrl, settings } = services
  const { actor, project, content, dryRun, includeJobs } = request
  const repository = await readable(places, project)
  const name = request.ref ?? project.defaultBranch
  const found = repository && name !== null ? await findRef(repository, project.refsVersion, name) : 'missing'
  const ref = typeof found === 'string' ? undefined : found
  const sha = request.sha ?? ref?.sha ?? (await resolveName(repository, undefined))
  const refused = await refusal(services, request, ref)

  const { configPath } = ciSettings(project)
  const url = externalUrl()
  const about = {
    source: 'push',
    ref: ref?.name ?? name ?? '',
    tag: ref?.tag ?? false,
    beforeSha: zeroOid,
    protected: ref !== undefined && (await services.refProtection.isProtected(db.reader, project.id, ref)),
    upstream: null,
  } as const
  const { facts, variables } = await projectFacts(db.reader, services.cipher, project.id, {
    protectedRef: about.protected && refused === undefined,
  })
  const commit = repository && sha && (await findCommit(repository, sha))
  const predefined = predefinedVariables(
    url,
    project,
    facts,
    { ...about, sha: sha ?? '' },
    commit,
    configPath,
  )
  // An include shows the variables in its name: only to those who could print them in a job.
  const given = may(actor, 'create_pipeline', project) ? variables : []

  const sources = configSources(services, { actor, project, sha })
  const origin = { project: project.fullPath, sha: sha ?? '' }
  const source = content ?? (await sourceOf(configPath, sources, origin))
  const parsed = await load(source, sources, {
    origin,
    host: new URL(url).host,
    variables: { predefined, given },
    limits: { totalBytes: settings.values.ci_max_total_yaml_size_bytes },
    signal: AbortSignal.timeout(longestReading),
  })
  const options = { url, includeJobs }
  if (!dryRun || !('config' in parsed)) return lintAnswer(parsed, null, options)
  const { config } = parsed
  if (refused !== undefined || repository === undefined || sha === undefined) {
    const { merged, includes } = config
    return lintAnswer({ errors: [refused ?? 'Reference not found'], merged, includes }, null, options)
  }
  const tree = new ConfigSource(repository, sha, settings.values.ci_max_total_yaml_size_bytes)
  const context = { ...about, sha, projectPath: project.fullPath, configPath, predefined, given }
  return lintAnswer(parsed, compile(config, await gather(repository, tree, config, context)), options)
}

/** The configuration as it lies in the commit; nothing where there is none. */
async function sourceOf(configPath: string, sources: ConfigSources, origin: Origin): Promise<string> {
  const location = configLocation(configPath)
  if ('source' in location) return location.source
  const { project, sha } = origin
  const file = await sources.file({ project, ref: sha, paths: [location.path], anonymous: false })
  return 'missing' in file ? '' : (file.content ?? '')
}

/** Why the push that a dry run stands for would make no pipeline, whatever the configuration. */
async function refusal(
  { db, refProtection }: PipelineServices,
  { actor, project }: LintRequest,
  ref: FoundRef | undefined,
): Promise<string | undefined> {
  if (!may(actor, 'create_pipeline', project)) return 'Insufficient permissions to create a new pipeline'
  if (ref === undefined) return 'Reference not found'
  if (await refProtection.mayRun(db.reader, actor, project, ref)) return undefined
  return (
    `You do not have sufficient permission to run a pipeline on '${ref.name}'. ` +
    'Please select a different branch or contact your administrator for assistance.'
  )
}
