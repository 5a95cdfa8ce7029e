import { stringify } from 'yaml'
import { readRoot, type RootEntry } from '../entries/root.ts'
import type { Rule } from '../entries/rules.ts'
import { hasPlainMatch } from '../expression/inspect.ts'
import {
  converse,
  converseAtOnce,
  noSources,
  type Asking,
  type ConfigSources,
  type Origin,
  type ReadySources,
} from '../include/asking.ts'
import { IncludeVariables, standardLimits, type Limits, type Surroundings } from '../include/context.ts'
import type { IncludeFacts } from '../include/fetch.ts'
import { Inclusion } from '../include/inclusion.ts'
import { includeText, inputText, warningText } from '../messages.ts'
import type { InputSpec } from '../spec/input-spec.ts'
import type { CompileContext } from '../types.ts'
import { ConfigError } from './config-error.ts'
import type { ParsedConfig } from './config.ts'
import { Budget, checkSize, newMap, type Data, type DataMap } from './data.ts'
import { resolveExtends } from './extends.ts'
import { checkGraph } from './graph.ts'
import { keyFilesOf } from '../compile/cache-keys.ts'
import { buildJobs } from './jobs.ts'
import { numbers } from './numbers.ts'
import { resolveReferences } from './reference.ts'

export interface ParseOptions {
  /** The commit that the file is of; `include: local` looks there. */
  origin?: Origin
  /** Host, and port if unusual, with which addresses of components begin. */
  host?: string
  /** What `include` may use: the same as for `compile`, though those of one pipeline only do not exist yet. */
  variables?: CompileContext['variables']
  /** Values for the `spec:inputs` of the file itself; at most 20. */
  inputs?: Readonly<Record<string, unknown>>
  /** It is a child pipeline's, which may include files from artifacts. */
  child?: boolean
  limits?: Partial<Limits>
}

/**
 * The errors are in order; the first is the one a failed pipeline shows. With them comes what was known by then: the
 * merged file, and the files it was made of.
 */
export type ParseResult =
  { config: ParsedConfig } | { errors: string[]; merged?: DataMap; includes?: IncludeFacts[] }

const mostSteps = 2_000_000
const mostInputs = 20

/**
 * Reads a configuration file with all it includes, as far as is possible without knowing the pipeline; asks `sources`
 * for other files. No text makes it throw, and it takes bounded time; where the answers may not, `signal` ends it.
 * All faults of entries are reported, faults of the graph one at a time; the first is the one to show.
 */
export async function load(
  source: string,
  sources: ConfigSources,
  options: ParseOptions & { signal?: AbortSignal } = {},
): Promise<ParseResult> {
  const { signal } = options
  const reading = converse(reader(source, options), sources)
  if (signal === undefined) return reading
  const aborted = Promise.withResolvers<ParseResult>()
  const stop = () => aborted.resolve({ errors: [includeText.tooSlow] })
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  return Promise.race([reading, aborted.promise]).finally(() => signal.removeEventListener('abort', stop))
}

/** The same where all files are at hand. */
export function parse(
  source: string,
  options: ParseOptions = {},
  sources: ReadySources = noSources,
): ParseResult {
  return converseAtOnce(reader(source, options), sources)
}

/** The merged configuration as YAML, for people. */
export function mergedYaml({ merged }: { merged: DataMap }): string {
  const written = stringify(merged, {
    aliasDuplicateObjects: false,
    lineWidth: 0,
    // Both tell which texts need quotes.
    compat: 'yaml-1.1',
    customTags: (tags) => [...tags, ...numbers],
  })
  return `---\n${written}`
}

function* reader(source: string, options: ParseOptions): Asking<ParseResult> {
  const limits = { ...standardLimits, ...options.limits }
  const budget = new Budget(mostSteps)
  const { host = '', child = false } = options
  const inclusion = new Inclusion(limits, { host, child, mostFiles: limits.files }, budget)
  const failed = (errors: string[], merged?: DataMap): ParseResult => ({
    errors,
    includes: inclusion.files,
    ...(merged && { merged }),
  })
  let data: DataMap | undefined
  try {
    const {
      data: included,
      oddKeys,
      inputs,
    } = yield* inclusion.root(source, givenInputs(options.inputs), surroundings(options))
    checkSize(included, limits.depth)
    const extended = resolveExtends(included, budget)
    checkSize(extended, limits.depth)
    data = resolveReferences(extended)
    checkSize(data, limits.depth)
    const errors: string[] = []
    const root = readRoot(data, oddKeys, errors)
    if (errors.length > 0) return failed(errors, data)
    return { config: build(root, data, inclusion.files, inputs) }
  } catch (error) {
    if (error instanceof ConfigError) return failed([error.message], data)
    throw error
  }
}

function surroundings({ origin, variables }: ParseOptions): Surroundings {
  return {
    origin: origin ?? { project: '', sha: '' },
    variables: new IncludeVariables(variables),
    component: null,
    anonymous: false,
  }
}

/** Values come from outside the file, so they are brought into its shape first. */
function givenInputs(inputs: ParseOptions['inputs']): DataMap | null {
  if (inputs === undefined) return null
  const entries = Object.entries(inputs).filter(([, value]) => value !== undefined)
  if (entries.length > mostInputs) throw new ConfigError(inputText.tooMany(mostInputs))
  const given = newMap()
  for (const [name, value] of entries) given[name] = JSON.parse(JSON.stringify(value)) as Data
  return given
}

function build(
  root: RootEntry,
  merged: DataMap,
  includes: IncludeFacts[],
  inputs: InputSpec[],
): ParsedConfig {
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
    inputs,
    merged,
    keyFiles: keyFilesOf(jobs),
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
