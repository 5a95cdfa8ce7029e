import { defaultFields, type JobEntry } from '../entries/job.ts'
import { defaultOnly } from '../entries/filters.ts'
import type { NeedEntry, NeedsEntry } from '../entries/needs.ts'
import { combinations, type MatrixRow, type Parallel } from '../entries/parallel.ts'
import type { DefaultEntry, RootEntry } from '../entries/root.ts'
import type { Inherit } from '../entries/settings.ts'
import { pipelineText } from '../messages.ts'
import type { Need, Variable } from '../types.ts'
import { ConfigError } from './config-error.ts'
import type { JobConfig } from './config.ts'
import { Budget, isMap, type DataMap } from './data.ts'

/** Far above any real pipeline; protects against a small file that makes millions. */
const mostJobs = 20_000
const mostEdges = 1_000_000

/** From the entries of the file to the jobs of a pipeline: defaults, `parallel`, names in needs. */
export function buildJobs(root: RootEntry, data: DataMap): JobConfig[] {
  const clones = new Map<string, Clone[]>()
  let total = 0
  for (const [name, { parallel }] of root.jobs) {
    const made = clonesOf(name, parallel)
    total += made.length
    if (total > mostJobs) throw new ConfigError(pipelineText.tooManyJobs(mostJobs))
    clones.set(name, made)
  }

  const names = new Names(clones)
  return [...root.jobs].flatMap(([groupName, written]) => {
    const entry = withDefaults(written, root.default)
    const stage = entry.stage ?? 'test'
    const common = {
      groupName,
      stage,
      stageIndex: root.stages.indexOf(stage),
      entry,
      written: writtenFilters(entry, data[groupName], root.workflow.rules !== null),
      inheritVariables: entry.inherit?.variables ?? true,
      dependencies: entry.dependencies?.flatMap((name) => names.clones(name)) ?? null,
      ruleNeeds: (entry.rules ?? []).map((rule) => rule.needs && names.needs(rule.needs)),
      ...(waitsForJobs(entry) ? names.needs(entry.needs!) : { needs: null, crossNeeds: [] }),
    }
    return clones.get(groupName)!.map(({ name, matrix, parallel }) => ({ ...common, name, matrix, parallel }))
  })
}

/** To mirror another project's pipeline is no need of a job. */
function waitsForJobs({ needs }: JobEntry): boolean {
  return needs !== undefined && (needs.mirrors === null || needs.jobs.length > 0)
}

/** `only` and `except` as people see them: lists written out, and what counts where there is nothing. */
function writtenFilters(
  { rules }: JobEntry,
  written: unknown,
  hasWorkflowRules: boolean,
): JobConfig['written'] {
  const shown = (filter: unknown) => (Array.isArray(filter) ? { refs: filter } : (filter ?? null))
  const { only = null, except = null } = isMap(written) ? written : {}
  const byDefault = rules === undefined && !hasWorkflowRules ? defaultOnly : null
  return { only: shown(only ?? byDefault), except: shown(except) }
}

/** A job key by key: its own, else the default's, where it inherits that one. */
function withDefaults(job: JobEntry, defaults: DefaultEntry): JobEntry {
  const inherits = job.inherit?.default ?? true
  const taken: Record<string, unknown> = { ...job }
  for (const key of Object.keys(defaultFields)) {
    const name = key.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof DefaultEntry
    const forBridges = key === 'interruptible'
    if (isBridge(job) && !forBridges) continue
    if (taken[name] === undefined && takes(inherits, key)) taken[name] = defaults[name]
  }
  return taken
}

export function isBridge(job: JobEntry): boolean {
  return job.script === undefined && job.run === undefined
}

export function takes(inherit: Inherit, key: string): boolean {
  return Array.isArray(inherit) ? inherit.includes(key) : inherit
}

interface Clone {
  name: string
  matrix: Variable[]
  parallel: { index: number; total: number } | null
}

/** `name i/n`, or `name: [a, b]` for each combination of a matrix; the job itself without `parallel`. */
function clonesOf(name: string, parallel: Parallel | undefined): Clone[] {
  if (parallel === undefined) return [{ name, matrix: [], parallel: null }]
  if ('total' in parallel) {
    const { total } = parallel
    return Array.from({ length: total }, (_, i) => ({
      name: `${name} ${i + 1}/${total}`,
      matrix: [],
      parallel: { index: i + 1, total },
    }))
  }
  const all = parallel.matrix.flatMap(combinations)
  // Of combinations that read the same the last is the job.
  const clones = new Map<string, Clone>()
  for (const [i, matrix] of all.entries()) {
    const own = matrixName(name, matrix)
    clones.set(own, { name: own, matrix, parallel: { index: i + 1, total: all.length } })
  }
  return [...clones.values()]
}

function matrixName(name: string, matrix: readonly Variable[]): string {
  return `${name}: [${matrix.map(({ value }) => value).join(', ')}]`
}

/** Names in `needs` and `dependencies` mean all clones of a job, or with a matrix some of them. */
class Names {
  readonly #clones: ReadonlyMap<string, Clone[]>
  readonly #budget = new Budget(mostEdges)

  constructor(clones: ReadonlyMap<string, Clone[]>) {
    this.#clones = clones
  }

  clones(name: string): string[] {
    const names = this.#clones.get(name)?.map((clone) => clone.name) ?? [name]
    this.#budget.spend(names.length)
    return names
  }

  needs({ jobs, cross }: NeedsEntry): Pick<JobConfig, 'crossNeeds'> & { needs: Need[] } {
    const needs = jobs.flatMap((need) => {
      const { artifacts, optional } = need
      return this.#named(need).map((name) => ({ name, artifacts, optional }))
    })
    return { needs, crossNeeds: cross }
  }

  #named({ job, matrix }: NeedEntry): string[] {
    return matrix === null ? this.clones(job) : matrix.flatMap((row) => this.#chosen(job, row))
  }

  /** Names that no clone has are kept: the graph check reports them. */
  #chosen(job: string, row: MatrixRow): string[] {
    return combinations(row).flatMap((wanted) => {
      this.#budget.spend(this.#clones.get(job)?.length ?? 1)
      const fitting = (this.#clones.get(job) ?? []).filter(({ matrix }) =>
        wanted.every(({ key, value }) => matrix.some((own) => own.key === key && own.value === value)),
      )
      return fitting.length > 0 ? fitting.map(({ name }) => name) : [matrixName(job, wanted)]
    })
  }
}
