import {
  accountProblem,
  enterAs,
  find,
  isVisible,
  may,
  project as projectKind,
  type Actor,
  type ProjectSubject,
} from '../../access/index.ts'
import type { Answers, Bridge, Questions, Variable } from '../../ci/index.ts'
import { findCommit, parseOid } from '../../git/index.ts'
import type { Database } from '../../kernel/db/index.ts'
import { addressesFor } from './addresses.ts'
import { ciSettings } from './ci-settings.ts'
import type { CreatorServices } from './create-pipeline.ts'
import type { BridgeRow } from './downstream-store.ts'
import { bridgeVariables, type BridgeVariables } from './downstream-variables.ts'
import { tagMessage } from './find-ref.ts'
import type { GivenVariable } from './pipeline-request.ts'
import { predefinedVariables } from './predefined.ts'
import { pipelineSecretContext, projectFacts } from './variable-source.ts'

/** What jobs of a pipeline have made; the area that keeps artifacts answers, plugged in by `app/`. */
export interface JobResults {
  file(pipelineId: number, about: Questions['artifact'], maximumBytes: number): Promise<Answers['artifact']>
  /** The variables in dotenv reports with these digests, in their order. */
  dotenv(digests: readonly string[]): Promise<Variable[]>
}

export interface BridgeServices extends CreatorServices {
  readonly results: JobResults
}

/** A trigger job with its user, as whom it acts, its project, and the variables that it knows. */
export interface BridgeScene {
  readonly row: BridgeRow
  readonly bridge: Bridge
  readonly actor: Actor
  readonly project: ProjectSubject
  readonly variables: BridgeVariables
}

/** Why a trigger job fails; `message` in words, where there are any. */
export class BridgeFailure extends Error {
  readonly reason: string

  constructor(reason: string, message = '') {
    super(message)
    this.reason = reason
  }
}

/** The user of the job with his rights, and the variables that the job knows. */
export async function enterBridge(services: BridgeServices, row: BridgeRow): Promise<BridgeScene> {
  const { db, cipher, places, externalUrl, refProtection, results } = services
  const entered =
    row.user_id === null
      ? undefined
      : await enterAs<ProjectSubject>(db, projectKind, row.user_id, row.project_id)
  const user = entered?.actor.user
  if (entered === undefined || !user || accountProblem(user) !== undefined)
    throw new BridgeFailure('user_blocked')
  const { actor, subject: project } = entered
  if (!may(actor, 'run_job', project)) throw new BridgeFailure('builds_disabled')
  const ref = { name: row.ref, tag: row.tag }
  if (
    !may(actor, 'update_pipeline', project) ||
    !(await refProtection.mayRun(db.reader, actor, project, ref))
  ) {
    throw new BridgeFailure('insufficient_bridge_permissions')
  }
  const sha = parseOid(row.pipeline.sha)
  const [{ facts, variables: ofProject }, commit, message, dotenv] = await Promise.all([
    projectFacts(db.reader, cipher, project.id, {
      protectedRef: row.protected,
      ref: { name: row.pipeline.merge_request?.source.branch ?? row.ref, tag: row.tag },
    }),
    sha && findCommit(places.of(project), sha),
    tagMessage(places.of(project), project.refsVersion, ref),
    results.dotenv(row.dotenv),
  ])
  const about = {
    source: row.pipeline.source as never,
    ref: row.ref,
    tag: row.tag,
    sha: row.pipeline.sha,
    beforeSha: row.pipeline.before_sha,
    protected: row.protected,
    upstream: row.pipeline.upstream,
    tagMessage: message,
    iid: row.pipeline.iid,
    user,
    mergeRequest: row.pipeline.merge_request,
  }
  const { configPath } = ciSettings(project)
  const variables = bridgeVariables(row, {
    pipelineUrl: `${externalUrl()}/${project.fullPath}/-/pipelines/${row.pipeline.id}`,
    predefined: predefinedVariables(
      addressesFor(services, project),
      project,
      facts,
      about,
      commit,
      configPath,
    ),
    dotenv,
    ofProject,
    given: row.variables.map(({ secret, ...rest }): GivenVariable => ({
      ...rest,
      value: cipher.open(secret, pipelineSecretContext),
    })),
  })
  if ('error' in variables) throw new BridgeFailure('invalid_bridge_trigger', variables.error)
  return { row, bridge: row.definition.bridge!, actor, project, variables }
}

/** A project that the user may know of, by its path. */
export async function findProject(
  db: Database,
  actor: Actor,
  path: string,
): Promise<ProjectSubject | undefined> {
  const found = await find<ProjectSubject>(db.reader, projectKind, actor, path.toLowerCase())
  return found !== undefined && isVisible(actor, found) ? found : undefined
}
