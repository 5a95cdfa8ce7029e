import { ConfigError } from '../config/config-error.ts'
import { Budget } from '../config/data.ts'
import type { JobConfig, ParsedConfig } from '../config/config.ts'
import { takes } from '../config/jobs.ts'
import { pipelineText } from '../messages.ts'
import { Patterns } from '../text/regex.ts'
import type {
  AutoCancel,
  CompileContext,
  CompiledJob,
  CompileFailure,
  CompileResult,
  Environment,
  Variable,
} from '../types.ts'
import { mergeVariables } from '../variables/merge.ts'
import { resolveCacheKeys } from './cache-keys.ts'
import { environmentVariables, jobPredefinedVariables } from './environment.ts'
import { compileJob, type Decision } from './job.ts'
import { settleNeeds } from './needs.ts'
import { defaultOnly } from '../entries/filters.ts'
import { excludedByExcept, includedByOnly } from './only-except.ts'
import { PathMatching } from './paths.ts'
import { firstMatching, type Grounds } from './rules.ts'
import { GivenVariables, layer, VariableScope, type Shared } from './scope.ts'

/** The pipeline that a configuration makes for a push, a schedule, …; or why it makes none. Never throws. */
export function compile(config: ParsedConfig, context: CompileContext): CompileResult {
  const refuse = (failureReason: CompileFailure, error: string): CompileResult => ({
    errors: [error],
    failureReason,
    warnings: config.warnings,
  })
  try {
    const compilation = new Compilation(config, context)
    const workflow = compilation.workflow()
    if (workflow === null) return refuse('filtered_by_workflow_rules', pipelineText.workflow)

    const chosen = config.jobs
      .map((job) => compilation.job(job, workflow.variables))
      .filter((job) => job !== null)
    const jobs = settleNeeds(chosen.sort((a, b) => a.stageIndex - b.stageIndex))
    if (jobs.every(({ stage }) => stage === '.pre' || stage === '.post')) {
      return refuse('filtered_by_rules', pipelineText.empty)
    }
    const { maximumJobs = 0 } = context
    if (maximumJobs > 0 && jobs.length > maximumJobs) {
      return refuse('size_limit_exceeded', pipelineText.tooManyJobs(maximumJobs))
    }
    return { jobs, stages: config.stages, ...workflow, warnings: config.warnings }
  } catch (error) {
    if (error instanceof ConfigError) return refuse('config_error', error.message)
    throw error
  }
}

/** Variables looked up for expansion, in all jobs together. */
const mostExpansions = 2_000_000

interface Workflow {
  workflowName: string | null
  autoCancel: AutoCancel
  variables: Variable[]
}

class Compilation {
  readonly #config: ParsedConfig
  readonly #grounds: Grounds<CompileContext>
  readonly #shared: Shared
  readonly #given: GivenVariables
  readonly #predefined: ReadonlyMap<string, Variable>

  constructor(config: ParsedConfig, context: CompileContext) {
    this.#config = config
    this.#shared = {
      patterns: new Patterns(),
      expansions: new Budget(mostExpansions, pipelineText.variablesTooBig),
      inputs: context.inputs,
    }
    this.#grounds = { context, paths: new PathMatching() }
    this.#given = new GivenVariables(context.variables.given)
    this.#predefined = layer(context.variables.predefined)
  }

  /** Null: the workflow's rules want no pipeline. */
  workflow(): Workflow | null {
    const { name, rules, autoCancel } = this.#config.workflow
    const globals = this.#config.variables.map(({ key, value, raw }) => ({ key, value, ...(raw && { raw }) }))
    const match =
      rules && firstMatching(rules, ofJob('workflow'), this.#scope(null, [], globals), this.#grounds)
    if (rules !== null && (match === null || match.rule.when === 'never')) return null

    const variables = mergeVariables<Variable>(globals, match?.rule.variables ?? [])
    checkCircles(this.#scope(null, [], variables), variables)
    const workflowName =
      name === null ? '' : this.#scope(null, [], variables).expand(name).trim().slice(0, 255)
    return {
      workflowName: workflowName === '' ? null : workflowName,
      autoCancel: {
        onNewCommit: 'conservative',
        onJobFailure: 'none',
        ...autoCancel,
        ...match?.rule.autoCancel,
      },
      variables,
    }
  }

  /** Null: the job is not part of this pipeline. */
  job(config: JobConfig, pipelineVariables: readonly Variable[]): CompiledJob | null {
    const { entry } = config
    const inherited = pipelineVariables.filter(({ key }) => takes(config.inheritVariables, key))
    const own = mergeVariables(inherited, entry.variables ?? [], config.matrix)
    const verdict = this.#judge(config, this.#settle(config, own).scope)
    if (verdict === null) return null

    const ofRule = verdict.rule?.rule.variables ?? []
    const variables = mergeVariables(own, ofRule)
    const { environment, scope } = this.#settle(config, variables)
    checkCircles(scope, [...(entry.variables ?? []), ...config.matrix, ...ofRule])
    return compileJob(config, {
      rule: verdict.rule,
      variables,
      environment,
      tags: scope.expandAll(entry.tags ?? []).filter((tag) => tag !== ''),
      resourceGroup: entry.resourceGroup === undefined ? null : scope.expand(entry.resourceGroup),
      cache: resolveCacheKeys(entry.cache ?? [], this.#grounds.context.keyFiles),
    })
  }

  /**
   * The environment and all variables of a job with these of the file. The scopes of given variables are matched with
   * the environment's name, which therefore can use only those without a scope.
   */
  #settle(
    { entry, ...names }: JobConfig,
    ofFile: readonly Variable[],
  ): { environment: Environment | null; scope: VariableScope } {
    const predefined = jobPredefinedVariables(names)
    const unscoped = this.#scope(null, predefined, ofFile)
    if (entry.environment === undefined) return { environment: null, scope: unscoped }
    const expandedName = unscoped.expand(entry.environment.name)
    const environment = { ...entry.environment, expandedName }
    const ofJob = [...predefined, ...environmentVariables(environment)]
    return { environment, scope: this.#scope(expandedName, ofJob, ofFile) }
  }

  /** Null: left out by its rules, or by only and except. */
  #judge({ name, entry }: JobConfig, scope: VariableScope): Pick<Decision, 'rule'> | null {
    if (entry.rules !== undefined) {
      const rule = firstMatching(entry.rules, ofJob(name), scope, this.#grounds)
      return rule === null || rule.rule.when === 'never' ? null : { rule }
    }
    const only = entry.only ?? (this.#config.workflow.rules === null ? defaultOnly : null)
    if (only !== null && !includedByOnly(only, scope, this.#grounds)) return null
    if (entry.except !== undefined && excludedByExcept(entry.except, scope, this.#grounds)) return null
    return { rule: null }
  }

  #scope(environment: string | null, ofJob: readonly Variable[], ofFile: readonly Variable[]): VariableScope {
    return new VariableScope(this.#shared, [
      this.#predefined,
      layer(ofJob),
      layer(ofFile),
      this.#given.for(environment),
    ])
  }
}

const ofJob = (name: string) => (reason: string) => pipelineText.rule(name, reason)

/** Throws where the values of these variables lead back to themselves. */
function checkCircles(scope: VariableScope, variables: readonly Variable[]): void {
  scope.expandAll(variables.filter(({ raw }) => raw !== true).map(({ value }) => value))
}
