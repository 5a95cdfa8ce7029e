import {
  byPrecedence,
  compile,
  expandVariables,
  mergeVariables,
  variablesFor,
  type JobVariables,
  type ScopedVariable,
  type Variable,
} from '../../ci/index.ts'
import { invalid, notFound } from '../../kernel/errors/index.ts'
import { gather, type StoredVariable } from '../pipelines/index.ts'
import type { SimulationServices } from './index.ts'
import { prepare, type Prepared, type Thought } from './prepare.ts'

export interface ExplainRequest extends Thought {
  /** Null: what any job of the ref would have. */
  readonly job: string | null
  /** Instead of the job's own. */
  readonly environment: string | null
}

type Source =
  | 'predefined'
  | 'global'
  | 'workflow_rule'
  | 'job'
  | 'matrix'
  | 'rule'
  | 'instance'
  | 'group'
  | 'project'
  | 'pipeline'

/** One of the variables that a key could stand for. */
interface Candidate extends ScopedVariable {
  source: Source
  /** The caller may not see the value. */
  concealed: boolean
  hidden: boolean
  protected: boolean
  /** Why the job does not get it. */
  leftOut: LeftOut[]
}
type LeftOut = 'protected' | 'environment_scope'

/** Known only when a runner has the job. */
const ofRun = [
  ...[
    'CI_JOB_ID',
    'CI_JOB_URL',
    'CI_JOB_TOKEN',
    'CI_JOB_STARTED_AT',
    'CI_JOB_STARTED_AT_SLUG',
    'CI_JOB_TIMEOUT',
  ],
  ...['CI_JOB_STATUS', 'CI_SERVER', 'CI_PIPELINE_ID', 'CI_PIPELINE_URL', 'CI_PIPELINE_CREATED_AT'],
  ...['CI_REPOSITORY_URL', 'CI_PROJECT_DIR', 'CI_BUILDS_DIR', 'CI_RUNNER_ID', 'CI_RUNNER_DESCRIPTION'],
  ...['CI_RUNNER_TAGS', 'CI_RUNNER_SHORT_TOKEN', 'CI_RUNNER_VERSION', 'CI_RUNNER_REVISION'],
  'CI_RUNNER_EXECUTABLE_ARCH',
]

/** The variables that a job of this ref would have: where each comes from, what it hides, what did not reach it. */
export async function explainVariables(services: SimulationServices, request: ExplainRequest) {
  const prepared = await prepare(services, request)
  const ofJob = request.job === null ? null : await variablesOfJob(prepared, request.job)
  const environment = request.environment ?? ofJob?.environment ?? null
  const all = byPrecedence({
    predefined: [...prepared.predefined, ...(ofJob?.predefined ?? [])].map(plain('predefined')),
    file: (ofJob?.ofFile ?? []).map(({ source, variable }) => plain(source)(variable)),
    stored: prepared.stored.map((variable) => candidate(variable, environment, prepared)),
    given: prepared.given.map(plain('pipeline')),
  })
  const reaching = all.filter(({ leftOut }) => leftOut.length === 0)
  const expanded = valuesOf(reaching)
  const byKey = Map.groupBy(all, ({ key }) => key)
  return [
    ...ofRun.filter((key) => !byKey.has(key)).map(atRun),
    ...mergeVariables(reaching).map((winner) => {
      const others = byKey.get(winner.key)!.filter((one) => one !== winner)
      return { ...shown(winner), value: expanded.get(winner.key) ?? null, ...behind(others, prepared) }
    }),
    ...[...byKey].flatMap(([key, candidates]) => {
      if (candidates.some(({ leftOut }) => leftOut.length === 0)) return []
      const { left_out, hides } = behind(candidates, prepared)
      // Those who may not see the variables of a place do not learn what else it keeps.
      return left_out.length === 0 ? [] : [{ ...absent(key), left_out, hides }]
    }),
  ].sort((one, other) => (one.key < other.key ? -1 : 1))
}

async function variablesOfJob({ parsed, sources, request }: Prepared, name: string): Promise<JobVariables> {
  if ('errors' in parsed) throw invalid({ base: parsed.errors.slice(0, 1) })
  const { config } = parsed
  const job =
    config.jobs.find((one) => one.name === name) ?? config.jobs.find((one) => one.groupName === name)
  if (job === undefined) throw notFound('Job')
  const context = await gather(sources, config, request)
  const result = compile(config, context, { explain: true, variablesOf: job.name })
  const found = result.explanation?.variables ?? null
  if (found === null) throw invalid({ base: 'errors' in result ? result.errors : [] })
  return found
}

function plain(source: Source): (variable: Variable) => Candidate {
  return ({ key, value, raw = false, file = false }) => ({
    ...{ key, value, raw, file, source, masked: false },
    ...{ concealed: false, hidden: false, protected: false, leftOut: [] },
  })
}

function candidate(
  variable: StoredVariable,
  environment: string | null,
  { protectedRef, sees }: Prepared,
): Candidate {
  const { place } = variable
  const leftOut: LeftOut[] = []
  if (place?.protected === true && !protectedRef) leftOut.push('protected')
  if (variablesFor(environment, [variable]).length === 0) leftOut.push('environment_scope')
  const hidden = place?.hidden === true
  return {
    ...variable,
    source: place?.projectId != null ? 'project' : place?.groupId != null ? 'group' : 'instance',
    concealed: hidden || !sees(variable),
    hidden,
    protected: place?.protected === true,
    leftOut,
  }
}

/** Expanded; references to what the caller may not see stay references. */
function valuesOf(reaching: readonly Candidate[]): Map<string, string> {
  const told = mergeVariables(reaching).filter(({ concealed }) => !concealed)
  const expanded = expandVariables(told)
  if ('error' in expanded) throw invalid({ base: [expanded.error] })
  return new Map(expanded.variables.map(({ key, value }) => [key, value]))
}

function shown({
  key,
  source,
  raw,
  file,
  masked,
  hidden,
  protected: kept,
  concealed,
  environmentScope,
}: Candidate) {
  return {
    key,
    variable_type: file === true ? 'file' : 'env_var',
    source: source as Source | null,
    environment_scope: environmentScope ?? null,
    raw: raw === true,
    masked: masked === true,
    hidden,
    protected: kept,
    concealed,
    known: true,
  }
}

const empty = {
  variable_type: 'env_var',
  environment_scope: null,
  raw: false,
  masked: false,
  hidden: false,
  protected: false,
}

function atRun(key: string) {
  return {
    ...{ key, ...empty, source: 'predefined' as Source | null, concealed: false, known: false },
    ...{ value: null, hides: [], left_out: [] },
  }
}

function absent(key: string) {
  return { key, ...empty, source: null, concealed: false, known: true, value: null }
}

/** What a variable hides, the next one first, and what did not reach the job. */
function behind(others: readonly Candidate[], { sees }: Prepared) {
  const of = (one: Candidate) => ({
    source: one.source,
    environment_scope: one.environmentScope ?? null,
    value: one.concealed ? null : one.value,
  })
  return {
    hides: others.flatMap((one) => (one.leftOut.length === 0 ? [of(one)] : [])).reverse(),
    left_out: others.flatMap((one) =>
      one.leftOut.length > 0 && (!('place' in one) || sees(one as StoredVariable))
        ? [{ ...of(one), reasons: one.leftOut }]
        : [],
    ),
  }
}
