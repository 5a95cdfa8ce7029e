import { isMap, type DataMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { Bridge } from '../types.ts'
import { attribute, boolean, collect, entry, map, mapOf, oneOf, readFields, string } from './read.ts'
import type { Read, Spot } from './spot.ts'

const mostIncludes = 3

const common = {
  strategy: attribute(oneOf(['depend', 'mirror'] as const, entryText.strategy)),
  forward: entry(mapOf({ yaml_variables: attribute(boolean), pipeline_variables: attribute(boolean) })),
  inputs: attribute(map),
}
const toProject = { ...common, project: attribute(string), branch: attribute(string) }
const toChild = { ...common, include: entry(include, 'includes') }

/** What a trigger job starts: a pipeline of another project, or a child pipeline from included files. */
export const trigger: Read<Bridge> = (value, spot) => {
  if (typeof value === 'string') return { ...nothing, project: value }
  if (!isMap(value)) return spot.failHere(entryText.stringOrHashShape)
  if ('include' in value) {
    const { include: files = null, ...found } = readFields(toChild, value, spot)
    return { ...nothing, include: files, ...commonOf(found) }
  }
  if (!('project' in value)) return spot.fail(entryText.triggerTarget)
  const { project = null, branch = null, ...found } = readFields(toProject, value, spot)
  return { ...nothing, project, branch, ...commonOf(found) }
}

/** The bridge of a job that only copies the status of a project's latest pipeline. */
export function mirrorOf(project: string): Bridge {
  return { ...nothing, mirrors: project }
}

const nothing: Bridge = {
  project: null,
  branch: null,
  include: null,
  strategy: null,
  forward: { yamlVariables: true, pipelineVariables: false },
  inputs: {},
  mirrors: null,
}

function commonOf(found: {
  strategy?: 'depend' | 'mirror'
  forward?: { yamlVariables?: boolean; pipelineVariables?: boolean }
  inputs?: DataMap
}): Pick<Bridge, 'strategy' | 'forward' | 'inputs'> {
  return {
    strategy: found.strategy ?? null,
    forward: { ...nothing.forward, ...found.forward },
    inputs: found.inputs ?? {},
  }
}

function include(value: unknown, spot: Spot): Record<string, unknown>[] | undefined {
  const files: unknown[] = Array.isArray(value) ? value : [value]
  if (files.length > mostIncludes) return spot.fail(entryText.tooLongList(mostIncludes))
  return collect(files, (file) => {
    if (typeof file === 'string') return { local: file }
    return isMap(file) ? { ...file } : spot.fail(entryText.triggerIncludeShape)
  })
}
