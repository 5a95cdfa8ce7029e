import { expect, test } from 'vitest'
import { keysIn, tellOf } from './development.ts'

test.each([
  ['ABC-1', ['ABC-1']],
  ['Fix ABC-12, A_B-3 and ABC-12', ['ABC-12', 'A_B-3']],
  ['feature/ABC-7-x', ['ABC-7']],
  ['abc-1 A-1 ABC-0 xABC ABC- 1ABC-2', []],
  [null, []],
])('of %j the keys are %j', (text, keys) => {
  expect(keysIn(text)).toEqual(keys)
})

test('what names no issue is not told', () => {
  const project = { id: 1, path_with_namespace: 'a/b', web_url: 'http://h/a/b' }
  const of = { iid: 1, title: 't', url: 'u', source_branch: 'b', ref: 'b' }
  for (const trigger of ['push', 'merge_requests', 'pipeline', 'deployment', 'issues'])
    expect(tellOf(trigger, { project, object_attributes: of, ref: 'b' }, { sequence: 1 })).toBeUndefined()
})
