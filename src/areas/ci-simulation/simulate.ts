import {
  compile,
  type CompileContext,
  type CompiledJob,
  type Explanation,
  type JobTrace,
  type RuleTrace,
} from '../../ci/index.ts'
import { gather } from '../pipelines/index.ts'
import type { SimulationServices } from './index.ts'
import { prepare, type Prepared, type Thought } from './prepare.ts'

export interface SimulationRequest extends Thought {
  /** Paths that count as changed; null: as for a new branch, with nothing to compare with. */
  readonly changedFiles: readonly string[] | null
}

/** Rules, and why each matched or not, of a job that the pipeline would or would not have. */
interface Told {
  reason: JobTrace['reason']
  rule: number | null
  rules: RuleTrace[] | null
  only: JobTrace['only']
  except: JobTrace['except']
}

/** Which pipeline would come to be, and why. Nothing is stored. */
export async function simulate(services: SimulationServices, request: SimulationRequest) {
  const prepared = await prepare(services, request)
  const { parsed, ref, protectedRef } = prepared
  const pipeline = {
    ref: ref.name,
    tag: ref.tag,
    sha: ref.sha,
    source: request.source,
    protected: protectedRef,
  }
  const nothing = { workflow: null, jobs: [], left_out: [], complete: true }
  if ('errors' in parsed) {
    const { errors } = parsed
    const failed = {
      valid: false,
      failure_reason: 'config_error',
      errors,
      warnings: [],
      pipeline: null,
      ...nothing,
    }
    return hideMasked(failed, prepared)
  }
  const { config } = parsed
  const context = changedBy(request, await gather(prepared.sources, config, prepared.request))
  const result = compile(config, context, { explain: true })
  const { warnings, explanation } = result
  const told =
    explanation === undefined ? nothing : toldOf(explanation, 'errors' in result ? [] : result.jobs)
  if ('errors' in result) {
    const { errors, failureReason: failure_reason } = result
    return hideMasked({ valid: false, failure_reason, errors, warnings, pipeline: null, ...told }, prepared)
  }
  const made = {
    ...pipeline,
    name: result.workflowName,
    stages: result.stages.filter((stage) => result.jobs.some((job) => job.stage === stage)),
    auto_cancel: {
      on_new_commit: result.autoCancel.onNewCommit,
      on_job_failure: result.autoCancel.onJobFailure,
    },
  }
  return hideMasked(
    { valid: true, failure_reason: null, errors: [], warnings, pipeline: made, ...told },
    prepared,
  )
}

/** The files given stand for every comparison, also with a ref, which yet has to be there. */
function changedBy({ changedFiles }: SimulationRequest, context: CompileContext): CompileContext {
  if (changedFiles === null) return context
  const changedPaths = [...changedFiles]
  const since = Object.keys(context.changedPathsSince ?? {}).map((ref) => [ref, changedPaths] as const)
  return { ...context, changedPaths, changedPathsSince: Object.fromEntries(since) }
}

function toldOf({ workflow, jobs: traces, complete }: Explanation, jobs: readonly CompiledJob[]) {
  const compiled = new Map(jobs.map((job) => [job.name, job]))
  const included = traces.filter(({ name }) => compiled.has(name))
  const order = new Map(jobs.map(({ name }, place) => [name, place]))
  return {
    workflow: workflow && { rules: workflow },
    jobs: included
      .map((trace) => ({ ...jobAnswer(compiled.get(trace.name)!), ...told(trace) }))
      .sort((one, other) => order.get(one.name)! - order.get(other.name)!),
    left_out: traces
      .filter(({ name }) => !compiled.has(name))
      .map((trace) => ({ name: trace.name, stage: trace.stage, ...told(trace) })),
    complete,
  }
}

function told({ reason, rule, rules, only, except }: JobTrace): Told {
  return { reason, rule, rules, only, except }
}

function jobAnswer(job: CompiledJob) {
  return {
    name: job.name,
    stage: job.stage,
    kind: job.bridge === null ? 'build' : 'bridge',
    when: job.when,
    start_in: job.startIn,
    allow_failure: job.allowFailure,
    allow_failure_exit_codes: job.allowFailureExitCodes,
    needs: job.needs,
    dependencies: job.dependencies,
    tag_list: job.tags,
    environment: job.environment?.expandedName ?? null,
    resource_group: job.resourceGroup,
    variables: job.variables.map(({ key, value }) => ({ key, value })),
  }
}

/** Expanded names and error texts may hold the value of a masked variable; nobody reads it here. */
function hideMasked<T>(answer: T, { stored }: Prepared): T {
  const secrets = stored.flatMap(({ masked, value }) => (masked && value !== '' ? [value] : []))
  const hide = (text: string) => secrets.reduce((shown, value) => shown.replaceAll(value, '[MASKED]'), text)
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return hide(value)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner)]))
  }
  return secrets.length === 0 ? answer : (walk(answer) as T)
}
