import { expect, test } from 'vitest'
import { isProtectedMerge, mergeRequestVariables, type MergeRequestFacts } from './merge-request.ts'

const home = { id: 7, path: 'team/app', url: 'https://x/team/app' }
const fork = { id: 8, path: 'ada/app', url: 'https://x/ada/app' }
const facts: MergeRequestFacts = {
  id: 70,
  iid: 3,
  eventType: 'detached',
  title: 'Draft: for 5 $EUR',
  description: 'd'.repeat(2701),
  draft: true,
  approved: true,
  assignees: ['ada', 'bob', 'cyd'],
  labels: ['bug', 'ci::slow'],
  milestone: 'v1',
  squash: false,
  diffId: 12,
  diffBaseSha: 'b'.repeat(40),
  project: home,
  source: { branch: 'fix', sha: 's'.repeat(40), protected: false, project: fork },
  target: { branch: 'main', sha: 't'.repeat(40), protected: true },
}
const of = (more: Partial<MergeRequestFacts>, key: string): string | undefined =>
  mergeRequestVariables({ ...facts, ...more })[`CI_MERGE_REQUEST_${key}`]

test.each([
  ['ID', '70'],
  ['IID', '3'],
  ['TITLE', 'Draft: for 5 $EUR'],
  ['DESCRIPTION', 'd'.repeat(2700)],
  ['DESCRIPTION_IS_TRUNCATED', 'true'],
  ['DRAFT', 'true'],
  ['APPROVED', 'true'],
  ['ASSIGNEES', 'ada, bob, and cyd'],
  ['LABELS', 'bug,ci::slow'],
  ['MILESTONE', 'v1'],
  ['REF_PATH', 'refs/merge-requests/3/head'],
  ['EVENT_TYPE', 'detached'],
  ['PROJECT_ID', '7'],
  ['PROJECT_PATH', 'team/app'],
  ['PROJECT_URL', 'https://x/team/app'],
  ['SOURCE_BRANCH_NAME', 'fix'],
  ['SOURCE_BRANCH_SHA', ''],
  ['SOURCE_BRANCH_PROTECTED', 'false'],
  ['SOURCE_PROJECT_ID', '8'],
  ['SOURCE_PROJECT_PATH', 'ada/app'],
  ['SOURCE_PROJECT_URL', 'https://x/ada/app'],
  ['TARGET_BRANCH_NAME', 'main'],
  ['TARGET_BRANCH_SHA', ''],
  ['TARGET_BRANCH_PROTECTED', 'true'],
  ['DIFF_ID', '12'],
  ['DIFF_BASE_SHA', 'b'.repeat(40)],
  ['SQUASH_ON_MERGE', 'false'],
])('CI_MERGE_REQUEST_%s', (key, value) => {
  expect(of({}, key)).toBe(value)
})

test('what there is not is left out; the heads are told of what would come of the merge', () => {
  const few = { approved: false, assignees: [], labels: [], milestone: null, diffId: null, diffBaseSha: null }
  for (const key of ['APPROVED', 'ASSIGNEES', 'LABELS', 'MILESTONE', 'DIFF_ID', 'DIFF_BASE_SHA']) {
    expect(of(few, key), key).toBeUndefined()
  }
  expect(of({ eventType: 'merged_result' }, 'SOURCE_BRANCH_SHA')).toBe('s'.repeat(40))
  expect(of({ eventType: 'merged_result' }, 'TARGET_BRANCH_SHA')).toBe('t'.repeat(40))
})

const inside = { ...facts, source: { ...facts.source, project: home, protected: true } }
test.each<[string, MergeRequestFacts, Record<string, unknown>, boolean]>([
  ['both are protected', inside, {}, true],
  ['the source is not', { ...inside, source: { ...inside.source, protected: false } }, {}, false],
  ['the target is not', { ...inside, target: { ...inside.target, protected: false } }, {}, false],
  ['the source is a fork', { ...inside, source: { ...inside.source, project: fork } }, {}, false],
  ['the project does not want it', inside, { protect_merge_request_pipelines: false }, false],
])('protected values where %s: %#', (_, of, settings, expected) => {
  expect(isProtectedMerge(of, { id: 7, settings })).toBe(expected)
})
