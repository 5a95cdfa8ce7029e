import { ConfigError } from '../config/config-error.ts'
import type { JobConfig, ParsedConfig } from '../config/config.ts'
import { takes } from '../config/jobs.ts'
import { pipelineText } from '../messages.ts'
import { Patterns } from '../text/regex.ts'
import type { AutoCancel, CompileContext, CompiledJob, CompileFailure, CompileResult, Variable } from '../types.ts'
import { mergeVariables } from '../variables/merge.ts'
import { environmentVariables, jobPredefinedVariables, namedEnvironment } from './environment.ts'
import { compileJob } from './job.ts'
import { settleNeeds } from './needs.ts'
import { defaultOnly, excludedByExcept, includedByOnly } from './only-except.ts'
import { PathMatching } from './paths.ts'
import { firstMatching, type Grounds } from './rules.ts'
import { GivenVariables, layer, VariableScope } from './scope.ts'

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

    const chosen = config.jobs.map((job) => compilation.job(job, workflow.variables)).filter((job) => job !== null)
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

interface Workflow {
  workflowName: string | null
  autoCancel: AutoCancel
  variables: Variable[]
}

class Compilation {
  readonly #config: ParsedConfig
  readonly #context: CompileContext
  readonly #grounds: Grounds
  readonly #patterns = new Patterns()
  readonly #given: GivenVariables
  readonly #predefined: ReadonlyMap<string, Variable>

  constructor(config: ParsedConfig, context: CompileContext) {
    this.#config = config
    this.#context = context
    this.#grounds = { context, paths: new PathMatching() }
    this.#given = new GivenVariables(context.variables.given)
    this.#predefined = layer(context.variables.predefined)
  }

  /** Null: the workflow's rules want no pipeline. */
  workflow(): Workflow | null {
    const { name, rules, autoCancel } = this.#config.workflow
    const globals = this.#config.variables.map(({ key, value, raw }) => ({ key, value, ...(raw && { raw }) }))
    const match = rules && firstMatching(rules, 'workflow', this.#scope(null, [], globals), this.#grounds)
    if (rules !== null && (match === null || match.rule.when === 'never')) return null

    const variables = mergeVariables<Variable>(globals, match?.rule.variables ?? [])
    const workflowName = name === null ? '' : this.#scope(null, [], variables).expand(name).trim().slice(0, 255)
    return {
      workflowName: workflowName === '' ? null : workflowName,
      autoCancel: { onNewCommit: 'conservative', onJobFailure: 'none', ...autoCancel, ...match?.rule.autoCancel },
      variables,
    }
  }

  /** Null: the job is not part of this pipeline. */
  job(config: JobConfig, pipelineVariables: readonly Variable[]): CompiledJob | null {
    const { entry } = config
    const predefined = jobPredefinedVariables(config)
    const inherited = pipelineVariables.filter(({ key }) => takes(config.inheritVariables, key))
    const own = mergeVariables(inherited, entry.variables ?? [], config.matrix)

    // The scope of a variable is matched with the environment's name, whose own variables have no scope therefore.
    const before = this.#scope(null, predefined, own)
    const judged = this.#judge(config, entry.environment ? this.#withEnvironment(config, before, predefined, own) : before)
    if (judged === null) return null

    const variables = mergeVariables(own, judged.rule?.rule.variables ?? [])
    const plain = this.#scope(null, predefined, variables)
    const environment = entry.environment
      ? namedEnvironment(entry.environment, plain.expand(entry.environment.name))
      : null
    const environmentOwn = environment === null ? [] : environmentVariables(environment)
    const scope = this.#scope(environment?.expandedName ?? null, [...predefined, ...environmentOwn], variables)
    // Looks for circles as well.
    scope.expandAll(variables.filter(({ raw }) => raw !== true).map(({ value }) => value))
    return compileJob(config, {
      rule: judged.rule,
      variables,
      environment,
      tags: scope.expandAll(entry.tags ?? []).filter((tag) => tag !== ''),
      resourceGroup: entry.resourceGroup === undefined ? null : scope.expand(entry.resourceGroup),
    })
  }

  #withEnvironment(
    { entry }: JobConfig,
    before: VariableScope,
    predefined: readonly Variable[],
    own: readonly Variable[],
  ): VariableScope {
    const environment = namedEnvironment(entry.environment!, before.expand(entry.environment!.name))
    return this.#scope(environment.expandedName, [...predefined, ...environmentVariables(environment)], own)
  }

  /** Null: left out by its rules, or by only and except. */
  #judge({ name, entry }: JobConfig, scope: VariableScope): Pick<Parameters<typeof compileJob>[1], 'rule'> | null {
    if (entry.rules !== undefined) {
      const rule = firstMatching(entry.rules, name, scope, this.#grounds)
      return rule === null || rule.rule.when === 'never' ? null : { rule }
    }
    const only = entry.only ?? (this.#config.workflow.rules === null ? defaultOnly : null)
    if (only !== null && !includedByOnly(only, scope, this.#grounds)) return null
    if (entry.except !== undefined && excludedByExcept(entry.except, scope, this.#grounds)) return null
    return { rule: null }
  }

  #scope(environment: string | null, ofJob: readonly Variable[], ofFile: readonly Variable[]): VariableScope {
    return new VariableScope(this.#patterns, this.#context.inputs, [
      this.#predefined,
      layer(ofJob),
      layer(ofFile),
      this.#given.for(environment),
    ])
  }
}
