import { isMap, type Data, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { AutoCancel } from '../types.ts'
import { defaultFields, readJob, type JobEntry } from './job.ts'
import { attribute, atMostCharacters, entry, map, mapOf, readFields, strings, type Values } from './read.ts'
import { autoCancel, workflowRules, type Rule } from './rules.ts'
import { Spot, type Read } from './spot.ts'
import { globalVariables, type GlobalVariable } from './variables.ts'

export type DefaultEntry = Values<typeof defaultFields>

/** The whole file, read; nothing is put together yet. */
export interface RootEntry {
  stages: string[]
  default: DefaultEntry
  variables: GlobalVariable[]
  workflow: { name: string | null; rules: Rule[] | null; autoCancel: Partial<AutoCancel> }
  jobs: Map<string, JobEntry>
}

/** Old spellings of what now belongs under `default`. */
const { image, services, cache, before_script, after_script } = defaultFields
const oldDefaults = { image, services, before_script, after_script, cache }

const workflow = mapOf({
  name: attribute(atMostCharacters(255)),
  rules: attribute(workflowRules),
  auto_cancel: entry(autoCancel),
})

const nestedStrings: Read<string[]> = (value, spot) =>
  strings(Array.isArray(value) ? value.flat(10) : value, spot)

const globalFields = {
  default: entry(mapOf(defaultFields)),
  ...oldDefaults,
  variables: entry(globalVariables),
  stages: entry(nestedStrings),
  workflow: entry(workflow),
  // Resolved before; only its place is known here.
  include: attribute((value: unknown) => value),
  spec: attribute(map),
}

/** What YAML readers take for something else than a text; no job can be called so. */
const oddNames = ['true', 'false', 'nil']
/** What a wrong job may have been meant for: a job `rspec` was never meant as `spec`. */
const suggestedGlobals = Object.keys(globalFields).filter((key) => key !== 'spec')
/** Once meant the stages. */
const removedKeys = ['types']

/** Reports everything that is wrong in `errors`, the globals first, then the jobs as written. */
export function readRoot(data: DataMap, oddKeys: readonly string[], errors: string[]): RootEntry {
  const root = new Spot(errors)
  const globals = pick(data, (key) => Object.hasOwn(globalFields, key))
  const {
    default: defaults = {},
    variables = [],
    stages,
    workflow,
    ...old
  } = readFields(globalFields, globals, root)
  for (const key of Object.keys(oldDefaults)) {
    if (globals[key] && isMap(globals['default']) && key in globals['default']) {
      root.failPlain(entryText.inTopAndDefault(key))
    }
  }
  return {
    stages: edged(stages ?? ['build', 'test', 'deploy']),
    default: { ...old, ...defaults },
    variables,
    workflow: {
      name: workflow?.name ?? null,
      rules: workflow?.rules ?? null,
      autoCancel: workflow?.autoCancel ?? {},
    },
    jobs: readJobs(
      pick(data, (key) => !Object.hasOwn(globalFields, key)),
      oddKeys,
      root.child('jobs'),
    ),
  }
}

function readJobs(data: DataMap, oddKeys: readonly string[], spot: Spot): Map<string, JobEntry> {
  const jobs = new Map<string, JobEntry>()
  const visible = Object.entries(data).filter(([name]) => !name.startsWith('.'))
  if (visible.length === 0) spot.failHere(entryText.noJobs)
  for (const [name, value] of visible) {
    if (name === '') spot.child('job').failHere(entryText.nameBlank)
    else if (oddKeys.includes(name) || oddNames.includes(name))
      spot.child(name).failHere(entryText.nameSymbol)
    else if (removedKeys.includes(name)) spot.failHere(entryText.notAJob(name))
    else {
      const job = readJob(name, value, spot, suggestedGlobals)
      if (job !== undefined) jobs.set(name, job)
    }
  }
  return jobs
}

/** `.pre` and `.post` stand at the ends, whether written or not. */
function edged(stages: string[]): string[] {
  const own = stages.filter((stage) => stage !== '.pre' && stage !== '.post')
  return [...new Set(['.pre', ...own, '.post'])]
}

function pick(data: DataMap, wanted: (key: string) => boolean): DataMap {
  const picked: [string, Data][] = Object.entries(data).filter(([key]) => wanted(key))
  return Object.fromEntries(picked)
}
