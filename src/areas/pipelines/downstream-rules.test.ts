import { describe, expect, test } from 'vitest'
import { followedStatus, hierarchyProblem, type Ancestor } from './downstream-rules.ts'

let id = 0
const of = (source: string, project_id = 1, ref = 'main'): Ancestor => ({
  id: (id += 1),
  project_id,
  ref,
  source,
})
const child = of('parent_pipeline')
const other = of('pipeline', 2)

describe('who may lead to whom', () => {
  test.each([
    [child, [of('push')], 1, undefined],
    [child, [child, of('push')], 2, undefined],
    [child, [child, child, of('push')], 3, 'reached_max_descendant_pipelines_depth'],
    // A pipeline of another project is a top of its own.
    [child, [other, child, child, of('push')], 4, undefined],
    [other, [of('push')], 1, undefined],
    [other, [of('pipeline'), other, of('push')], 3, undefined],
    [other, [of('pipeline'), other, of('pipeline'), other, of('push')], 5, 'pipeline_loop_detected'],
    [other, [of('pipeline', 2, 'x'), of('pipeline', 2, 'y'), of('pipeline', 3)], 3, undefined],
    [other, [of('push')], 1000, 'reached_max_pipeline_hierarchy_size'],
    [other, [of('push')], 999, undefined],
  ] as const)('%#', (next, ancestry, size, problem) => {
    expect(hierarchyProblem(next, ancestry, size, 1000)).toBe(problem)
  })
})

describe('what a trigger job that follows is in', () => {
  test.each([
    ['success', 'success', 'success'],
    ['failed', 'failed', 'failed'],
    ['canceled', 'canceled', 'canceled'],
    ['skipped', 'failed', 'skipped'],
    ['manual', 'running', 'manual'],
    ['running', 'running', 'running'],
    ['canceling', 'running', 'running'],
    ['created', 'running', 'running'],
    ['scheduled', 'running', 'running'],
  ] as const)('%s: depend %s, mirror %s', (status, depend, mirror) => {
    expect([followedStatus('depend', status), followedStatus('mirror', status)]).toEqual([depend, mirror])
  })
})
