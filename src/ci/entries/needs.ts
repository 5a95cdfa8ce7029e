import { isMap } from '../config/data.ts'
import { entryText } from '../messages.ts'
import type { CrossNeed } from '../types.ts'
import { matrix, type MatrixRow } from './parallel.ts'
import { attribute, boolean, entry, mapOf, readFields, string } from './read.ts'
import type { Read, Spot } from './spot.ts'

/** A need as written; `parallel` picks some of the jobs of that name. */
export interface NeedEntry {
  job: string
  artifacts: boolean
  optional: boolean
  matrix: MatrixRow[] | null
}

export interface NeedsEntry {
  jobs: NeedEntry[]
  cross: CrossNeed[]
  /** `needs: { pipeline: path }` of a bridge. */
  mirrors: string | null
  mirrorCount: number
  types: NeedType[]
}

/** In the words of the texts. */
export type NeedType = 'job' | 'cross_dependency' | 'bridge'

const mostCrossNeeds = 5

const fields = {
  job: attribute(string),
  artifacts: attribute(boolean),
  optional: attribute(boolean),
  project: attribute(string),
  ref: attribute(string),
  pipeline: attribute(string),
  parallel: entry(mapOf({ matrix: entry(matrix) })),
}

export const needs: Read<NeedsEntry> = (value, spot) => {
  if (!isMap(value) && !Array.isArray(value)) return spot.fail(entryText.needsShape)
  const found: NeedsEntry = { jobs: [], cross: [], mirrors: null, mirrorCount: 0, types: [] }
  // Rules and references nest lists here as they do in scripts.
  for (const item of Array.isArray(value) ? value.flat(10) : [value]) need(item, spot.child('need'), found)
  if (found.cross.length > mostCrossNeeds) return spot.fail(entryText.tooLongList(mostCrossNeeds))
  if (found.jobs.length > 0) found.types.push('job')
  if (found.cross.length > 0) found.types.push('cross_dependency')
  if (found.mirrorCount > 0) found.types.push('bridge')
  return found
}

function need(value: unknown, spot: Spot, found: NeedsEntry): void {
  if (typeof value === 'string') {
    found.jobs.push({ job: value, artifacts: true, optional: false, matrix: null })
    return
  }
  if (!isMap(value)) {
    spot.failHere(entryText.stringOrHashShape)
    return
  }
  const {
    job,
    artifacts = true,
    optional = false,
    project,
    ref,
    pipeline,
    parallel,
  } = readFields(fields, value, spot)
  if (job === undefined) {
    if (pipeline === undefined) spot.key('job').fail(entryText.blank)
    else {
      found.mirrors = pipeline
      found.mirrorCount++
    }
  } else if (project !== undefined) found.cross.push({ project, ...(ref && { ref }), job, artifacts })
  else if (pipeline !== undefined) found.cross.push({ pipeline, job, artifacts })
  else found.jobs.push({ job, artifacts, optional, matrix: parallel?.matrix ?? null })
}
