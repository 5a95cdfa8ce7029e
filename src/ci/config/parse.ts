import { stringify } from 'yaml'
import { readRoot, type RootEntry } from '../entries/root.ts'
import type { Rule } from '../entries/rules.ts'
import { hasPlainMatch } from '../expression/inspect.ts'
import { fileText, warningText } from '../messages.ts'
import { ConfigError } from './config-error.ts'
import type { ParsedConfig } from './config.ts'
import { Budget, checkSize, isMap, type DataMap } from './data.ts'
import { resolveExtends } from './extends.ts'
import { checkGraph } from './graph.ts'
import { mergeIncludes, type IncludeRequest, type Includes } from './include.ts'
import { buildJobs } from './jobs.ts'
import { resolveReferences } from './reference.ts'
import { readYaml } from './yaml.ts'

export interface ParseOptions {
  /** The files of `include`, gathered before with `listIncludes`. Without it `include` is an error. */
  includes?: Includes
}

/** The errors are in order; the first is the one a failed pipeline shows. */
export type ParseResult = { config: ParsedConfig } | { errors: string[] }

const mostSteps = 2_000_000

/**
 * Reads a configuration file as far as is possible without knowing the pipeline. Never throws for any text, and takes
 * bounded time. All faults of entries are reported, faults of the graph one at a time; the first is the one to show.
 */
export function parse(source: string, options: ParseOptions = {}): ParseResult {
  try {
    const { data, files, oddKeys } = putTogether(source, options)
    const errors: string[] = []
    const root = readRoot(data, oddKeys, errors)
    return errors.length > 0 ? { errors } : { config: build(root, data, files) }
  } catch (error) {
    if (error instanceof ConfigError) return { errors: [error.message] }
    throw error
  }
}

/** The merged configuration as YAML, for people. */
export function mergedYaml(config: ParsedConfig): string {
  return `---\n${stringify(config.merged, { aliasDuplicateObjects: false, lineWidth: 0, compat: 'yaml-1.1' })}`
}

function putTogether(source: string, options: ParseOptions) {
  const { header, content, oddKeys } = readYaml(source)
  const spec = header?.['spec'] ?? null
  if (spec !== null && !(isMap(spec) && Object.keys(spec).length === 0)) {
    throw new ConfigError(fileText.specUnsupported)
  }
  if (!isMap(content)) throw new ConfigError(fileText.notMap)
  const budget = new Budget(mostSteps)
  const { data: included, files } = mergeIncludes(content, options.includes, budget)
  const extended = resolveExtends(included, budget)
  checkSize(extended)
  const data = resolveReferences(extended)
  checkSize(data)
  return { data, files, oddKeys }
}

function build(root: RootEntry, merged: DataMap, includes: IncludeRequest[]): ParsedConfig {
  const jobs = buildJobs(root, merged)
  checkGraph(jobs, root.stages)
  const rules = [...(root.workflow.rules ?? []), ...[...root.jobs.values()].flatMap((job) => job.rules ?? [])]
  const filters = [...root.jobs.values()].flatMap((job) => [job.only, job.except])
  const changes = rules.flatMap((rule) => rule.changes ?? [])
  const exists = rules.flatMap((rule) => rule.exists ?? [])
  return {
    stages: root.stages,
    variables: root.variables,
    workflow: root.workflow,
    jobs,
    warnings: warningsOf(root),
    includes,
    merged,
    usesChanges: changes.length > 0 || filters.some((filter) => filter?.changes !== undefined),
    compareTo: unique(changes.flatMap(({ compareTo }) => compareTo ?? [])),
    usesExists: exists.length > 0,
    otherTrees: exists.flatMap(({ project, ref }) => (project === null ? [] : [{ project, ref }])),
  }
}

const mostWarnings = 25

function warningsOf({ workflow, jobs }: RootEntry): string[] {
  const warnings: string[] = []
  for (const [name, { rules = [] }] of jobs) {
    const last = rules.at(-1)
    if (workflow.rules === null && last !== undefined && catchesAll(last))
      warnings.push(warningText.twoPipelines(name))
    if (rules.some((rule) => rule.if !== null && hasPlainMatch(rule.if)))
      warnings.push(warningText.notAPattern(name))
  }
  return warnings.slice(0, mostWarnings)
}

/** A rule with nothing but `when` lets a job into branch and merge request pipelines alike. */
function catchesAll(rule: Rule): boolean {
  return (
    rule.if === null &&
    rule.changes === null &&
    rule.exists === null &&
    rule.when !== null &&
    rule.when !== 'never'
  )
}

const unique = <T>(items: readonly T[]): T[] => [...new Set(items)]
