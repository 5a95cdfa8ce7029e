import type { Actor, ProjectSubject } from '../../access/index.ts'
import {
  noSources,
  type ConfigSources,
  type ParseResult,
  type PipelineSource,
  type ScopedVariable,
  type Variable,
} from '../../ci/index.ts'
import { findCommit, zeroOid } from '../../git/index.ts'
import { invalid } from '../../kernel/errors/index.ts'
import {
  addressesFor,
  checkVariables,
  ciSettings,
  findRef,
  loadConfig,
  predefinedVariables,
  projectFacts,
  runRefusal,
  tagMessage,
  type ConfigRequest,
  type FoundRef,
  type GivenVariable,
  type StoredVariable,
} from '../pipelines/index.ts'
import { readable } from '../repository/index.ts'
import type { SimulationServices } from './index.ts'
import { visiblePlaces, type Sees } from './visibility.ts'

/** A pipeline that is only thought of. */
export interface Thought {
  readonly actor: Actor
  readonly project: ProjectSubject
  /** Branch or tag. */
  readonly ref: string
  readonly source: PipelineSource
  readonly variables?: readonly GivenVariable[] | undefined
  readonly inputs?: Readonly<Record<string, unknown>> | undefined
  /** Stands in for the file of the commit. */
  readonly content?: string | undefined
}

export interface Prepared {
  readonly ref: FoundRef
  readonly protectedRef: boolean
  readonly request: ConfigRequest
  readonly parsed: ParseResult
  readonly sources: ConfigSources
  readonly predefined: readonly Variable[]
  /** All that may reach the project, low to high, those too that this ref does not get. */
  readonly stored: readonly StoredVariable[]
  readonly given: readonly StoredVariable[]
  readonly sees: Sees
}

/** Of these requests there is no branch to speak of. */
const ofRequests: readonly PipelineSource[] = ['merge_request_event', 'external_pull_request_event']
const noConfiguration = 'Please provide content of .gitlab-ci.yml'

/** Gathers what such a pipeline would be made of. Refuses, as its creation would, who may not make it. */
export async function prepare(services: SimulationServices, thought: Thought): Promise<Prepared> {
  const { db, cipher, places, refProtection } = services
  const { actor, project, source } = thought
  const repository = await readable(places, project)
  const found = repository && (await findRef(repository, project.refsVersion, thought.ref))
  const ref = found === undefined || typeof found === 'string' ? undefined : found
  const refused = found === 'ambiguous' ? 'Ref is ambiguous' : await runRefusal(services, thought, ref)
  if (refused !== undefined || ref === undefined) throw invalid({ base: [refused ?? 'Reference not found'] })
  const wrong = checkVariables({ actor, project, variables: thought.variables ?? [] })
  if (wrong !== undefined) throw invalid({ base: [wrong] })

  const [commit, protectedRef, { facts, variables: stored, nextIid }, message] = await Promise.all([
    findCommit(repository!, ref.sha),
    refProtection.isProtected(db.reader, project.id, ref),
    projectFacts(db.reader, cipher, project.id, { protectedRef: true, ref }),
    tagMessage(repository!, project.refsVersion, ref),
  ])
  const { configPath } = ciSettings(project)
  const { name, tag, sha } = ref
  const about = {
    ...{ source, ref: name, tag, sha, beforeSha: zeroOid, protected: protectedRef },
    ...{ upstream: null, tagMessage: message, iid: nextIid, user: actor.user },
  }
  const addresses = addressesFor(services, project)
  const predefined = predefinedVariables(addresses, project, facts, about, commit, configPath).filter(
    ({ key }) => key !== 'CI_COMMIT_BRANCH' || !ofRequests.includes(source),
  )
  const sees = await visiblePlaces(db.reader, actor, project, stored)
  const given = (thought.variables ?? []).map(givenVariable)
  const reaching = stored.filter((variable) => protectedRef || variable.place?.protected !== true)
  const request: ConfigRequest = {
    ...about,
    actor,
    project,
    repository,
    content: thought.content,
    configPath,
    predefined,
    given: [...reaching.map((variable) => concealed(variable, sees)), ...given],
    ...(services.settings.flags.ci_inputs_for_pipelines && { inputs: thought.inputs }),
  }
  const loaded = await loadConfig(services, request)
  const parsed = loaded?.parsed ?? { errors: [noConfiguration] }
  return {
    ...{ ref, protectedRef, request, parsed, predefined, stored, given, sees },
    sources: loaded?.sources ?? noSources,
  }
}

function givenVariable({ key, value, variable_type, raw = false }: GivenVariable): StoredVariable {
  return { key, value, file: variable_type === 'file', raw, masked: false }
}

/** Marked where the explanation has to keep silent about it. */
function concealed(variable: StoredVariable, sees: Sees): StoredVariable & ScopedVariable {
  const hidden = variable.masked || variable.place?.hidden === true || !sees(variable)
  return hidden ? { ...variable, concealed: true } : variable
}
