import { may, type Actor, type ProjectSubject } from '../../access/index.ts'
import { compile, lintAnswer, type LintAnswer } from '../../ci/index.ts'
import { findCommit, zeroOid, type Oid } from '../../git/index.ts'
import { readable, resolveName } from '../repository/index.ts'
import { addressesFor } from './addresses.ts'
import { ciSettings } from './ci-settings.ts'
import { gather } from './compile-pipeline.ts'
import { findRef, tagMessage, type FoundRef } from './find-ref.ts'
import type { PipelineServices } from './index.ts'
import { loadConfig } from './load-config.ts'
import { predefinedVariables } from './predefined.ts'
import { projectFacts } from './variable-source.ts'

const noConfiguration = 'Please provide content of .gitlab-ci.yml'

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
  const { db, places, externalUrl } = services
  const { actor, project, content, dryRun, includeJobs } = request
  const repository = await readable(places, project)
  const name = request.ref ?? project.defaultBranch
  const found = repository && name !== null ? await findRef(repository, project.refsVersion, name) : 'missing'
  const ref = typeof found === 'string' ? undefined : found
  const sha = request.sha ?? ref?.sha ?? (await resolveName(repository, undefined))
  const refused = await runRefusal(services, request, ref)

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
  const { facts, variables, nextIid } = await projectFacts(db.reader, services.cipher, project.id, {
    protectedRef: about.protected && refused === undefined,
    ref: { name: about.ref, tag: about.tag },
  })
  const commit = repository && sha && (await findCommit(repository, sha))
  const predefined = predefinedVariables(
    addressesFor(services, project),
    project,
    facts,
    {
      ...about,
      sha: sha ?? '',
      iid: nextIid,
      user: actor.user,
      ...(repository && ref && { tagMessage: await tagMessage(repository, project.refsVersion, ref) }),
    },
    commit,
    configPath,
  )
  // An include shows the variables in its name: only to those who could print them in a job.
  const given = may(actor, 'create_pipeline', project) ? variables : []

  const config = {
    ...about,
    actor,
    project,
    repository,
    sha,
    content,
    configPath,
    predefined,
    given,
  }
  const loaded = await loadConfig(services, config)
  const options = { url, includeJobs }
  if (loaded === undefined) return lintAnswer({ errors: [noConfiguration] }, null, options)
  const { parsed, sources } = loaded
  if (!dryRun || !('config' in parsed)) return lintAnswer(parsed, null, options)
  if (refused !== undefined || sha === undefined) {
    const { merged, includes } = parsed.config
    return lintAnswer({ errors: [refused ?? 'Reference not found'], merged, includes }, null, options)
  }
  const compiled = compile(parsed.config, await gather(sources, parsed.config, config))
  return lintAnswer(parsed, compiled, options)
}

/** Why the push that a dry run stands for would make no pipeline, whatever the configuration. */
export async function runRefusal(
  { db, refProtection }: Pick<PipelineServices, 'db' | 'refProtection'>,
  { actor, project }: Pick<LintRequest, 'actor' | 'project'>,
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
