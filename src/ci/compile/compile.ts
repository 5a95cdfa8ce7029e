import { cutTo } from '../../kernel/lib/characters.ts'
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
import type { Rule } from '../entries/rules.ts'
import {
  Explaining,
  type ClauseTrace,
  type FileSource,
  type JobTrace,
  type Reason,
  type RuleTrace,
} from './explanation.ts'
import { excludedByExcept, includedByOnly } from './only-except.ts'
import { PathMatching } from './paths.ts'
import { firstMatching, type Grounds } from './rules.ts'
import { GivenVariables, layer, VariableScope, type Shared } from './scope.ts'

/**
 * The pipeline that a configuration makes for a push, a schedule, …; or why it makes none. With `explain` the result
 * tells how every rule was judged, and what the file gives to the job `variablesOf`. Never throws.
 */
export function compile(
  config: ParsedConfig,
  context: CompileContext,
  { explain = false, variablesOf = null }: { explain?: boolean; variablesOf?: string | null } = {},
): CompileResult {
  const explaining = explain ? new Explaining(variablesOf) : null
  const told = explaining && { explanation: explaining.explanation }
  const refuse = (failureReason: CompileFailure, error: string): CompileResult => ({
    errors: [error],
    failureReason,
    warnings: config.warnings,
    ...told,
  })
  try {
    const compilation = new Compilation(config, context, explaining)
    const workflow = compilation.workflow()
    if (workflow === null) return refuse('filtered_by_workflow_rules', pipelineText.workflow)

    const chosen = config.jobs
      .map((job) => compilation.job(job, workflow.variables))
      .filter((job) => job !== null)
    const jobs = settleNeeds(
      chosen.sort((a, b) => a.stageIndex - b.stageIndex),
      context.mostNeeds,
    )
    if (jobs.every(({ stage }) => stage === '.pre' || stage === '.post')) {
      return refuse('filtered_by_rules', pipelineText.empty)
    }
    const { maximumJobs = 0 } = context
    if (maximumJobs > 0 && jobs.length > maximumJobs) {
      return refuse('size_limit_exceeded', pipelineText.tooManyJobs(maximumJobs))
    }
    return { jobs, stages: config.stages, ...workflow, warnings: config.warnings, ...told }
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
  #predefined: ReadonlyMap<string, Variable>
  readonly #explaining: Explaining | null
  readonly #environments = new Map<string, Variable[]>()
  #ofWorkflowRule: readonly Variable[] = []

  constructor(config: ParsedConfig, context: CompileContext, explaining: Explaining | null) {
    this.#config = config
    this.#explaining = explaining
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
    const traces = rules && (this.#explaining?.traces<RuleTrace>() ?? null)
    this.#explaining?.workflow(traces)
    const scope = this.#scope(null, [], globals)
    const match = rules && firstMatching(rules, ofJob('workflow'), scope, this.#grounds, traces)
    if (rules !== null && (match === null || match.rule.when === 'never')) return null

    this.#ofWorkflowRule = match?.rule.variables ?? []
    const variables = mergeVariables<Variable>(globals, this.#ofWorkflowRule)
    checkCircles(this.#scope(null, [], variables), variables)
    const workflowName = name === null ? '' : cutTo(this.#scope(null, [], variables).expand(name).trim(), 255)
    if (workflowName !== '') {
      const named = { key: 'CI_PIPELINE_NAME', value: workflowName, raw: true }
      this.#predefined = new Map([...this.#predefined, [named.key, named]])
    }
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
    const settled = this.#settle(config, own)
    this.#explainVariables(config, settled, [])
    const verdict = this.#judge(config, settled.scope)
    if (verdict === null) return null

    const ofRule = verdict.rule?.rule.variables ?? []
    const variables = ofRule.length === 0 ? own : mergeVariables(own, ofRule)
    const { environment, scope } = ofRule.length === 0 ? settled : this.#settle(config, variables)
    checkCircles(scope, [...(entry.variables ?? []), ...config.matrix, ...ofRule])
    this.#explainVariables(config, { environment }, ofRule)
    return compileJob(config, {
      rule: verdict.rule,
      variables,
      environment,
      tags: scope.expandAll(entry.tags ?? []).filter((tag) => tag !== ''),
      resourceGroup: entry.resourceGroup === undefined ? null : scope.expand(entry.resourceGroup),
      cache: resolveCacheKeys(entry.cache ?? [], this.#grounds.context.keyFiles),
      expand: (text) => scope.expand(text),
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
    const ofJob = [...predefined, ...this.#ofEnvironment(environment)]
    return { environment, scope: this.#scope(expandedName, ofJob, ofFile) }
  }

  /** Many jobs of a matrix share one, and its slug takes a digest. */
  #ofEnvironment(environment: Environment): Variable[] {
    const { expandedName, action, deploymentTier, url } = environment
    const key = JSON.stringify([expandedName, action, deploymentTier, url])
    const known = this.#environments.get(key) ?? environmentVariables(environment)
    this.#environments.set(key, known)
    return known
  }

  /** Null: left out by its rules, or by only and except. */
  #judge(config: JobConfig, scope: VariableScope): Pick<Decision, 'rule'> | null {
    const { entry } = config
    if (entry.rules !== undefined) return this.#judgeRules(config, entry.rules, scope)
    const traces = () => this.#explaining?.traces<ClauseTrace>() ?? null
    const only = entry.only ?? (this.#config.workflow.rules === null ? defaultOnly : null)
    const [onlyTraces, exceptTraces] = [only && traces(), entry.except === undefined ? null : traces()]
    const included = only === null || includedByOnly(only, scope, this.#grounds, onlyTraces)
    const excluded =
      included &&
      entry.except !== undefined &&
      excludedByExcept(entry.except, scope, this.#grounds, exceptTraces)
    const given = entry.only !== undefined || entry.except !== undefined
    const reason = excluded ? 'except' : !included ? 'only' : given ? 'filters' : 'always'
    this.#explain(config, reason, { only: onlyTraces, except: exceptTraces })
    return included && !excluded ? { rule: null } : null
  }

  #judgeRules(
    config: JobConfig,
    rules: readonly Rule[],
    scope: VariableScope,
  ): Pick<Decision, 'rule'> | null {
    const traces = this.#explaining?.traces<RuleTrace>() ?? null
    const rule = firstMatching(rules, ofJob(config.name), scope, this.#grounds, traces)
    const never = rule?.rule.when === 'never'
    const reason = rule === null ? 'no_rule_matched' : never ? 'rule_never' : 'rule_matched'
    this.#explain(config, reason, { rule: rule?.index ?? null, rules: traces })
    return rule === null || never ? null : { rule }
  }

  #explain({ name, stage }: JobConfig, reason: Reason, seen: Partial<JobTrace>): void {
    const included = ['always', 'filters', 'rule_matched'].includes(reason)
    const nothing = { rule: null, rules: null, only: null, except: null }
    this.#explaining?.job({ name, stage, included, reason, ...nothing, ...seen })
  }

  #explainVariables(
    config: JobConfig,
    { environment }: { environment: Environment | null },
    ofRule: readonly Variable[],
  ): void {
    if (this.#explaining === null || this.#explaining.variablesOf !== config.name) return
    const from = (source: FileSource, variables: readonly Variable[]) =>
      variables.map((variable) => ({ source, variable }))
    const inherited = (variables: readonly Variable[]) =>
      variables.filter(({ key }) => takes(config.inheritVariables, key))
    this.#explaining.explanation.variables = {
      environment: environment?.expandedName ?? null,
      predefined: [
        ...jobPredefinedVariables(config),
        ...(environment === null ? [] : environmentVariables(environment)),
      ],
      ofFile: [
        ...from('global', inherited(this.#config.variables)),
        ...from('workflow_rule', inherited(this.#ofWorkflowRule)),
        ...from('job', config.entry.variables ?? []),
        ...from('matrix', config.matrix),
        ...from('rule', ofRule),
      ].map(({ source, variable: { key, value, raw } }) => ({
        source,
        variable: { key, value, ...(raw && { raw }) },
      })),
    }
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
