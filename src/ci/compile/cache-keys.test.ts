import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { parse } from '../config/parse.ts'
import { jobsOf } from '../fixtures/pipelines.ts'
import type { CompileContext } from '../types.ts'

const digest = (...ids: string[]) => createHash('sha1').update(ids.join('-')).digest('hex')
const keyFiles: CompileContext['keyFiles'] = {
  files: { 'a.lock': ['2'], '*.lock': ['1', '2', '1'], 'none.lock': [] },
  filesCommits: { 'a.lock': ['c'] },
}

test.each([
  ['main', 'main'],
  ['{files: [a.lock]}', `0_a-${digest('2')}`],
  ['{files: ["*.lock", a.lock]}', `0_*_a-${digest('1', '2')}`],
  ['{files: [a.lock], prefix: $CI_JOB_NAME}', `$CI_JOB_NAME-${digest('2')}`],
  ['{files: [none.lock]}', '0_none-default'],
  ['{files: [unknown], prefix: p}', 'p-default'],
  ['{files_commits: [a.lock], prefix: p}', `p-${digest('c')}`],
  ['{files_commits: [a.lock]}', `0-${digest('c')}`],
])('%s is %s', (key, expected) => {
  const [job] = jobsOf(`a: {script: x, cache: {key: ${key}, paths: [p]}}`, { keyFiles })
  expect(job!.cache[0]!.key).toBe(expected)
})

test('two caches of one job differ', () => {
  const [job] = jobsOf('a: {script: x, cache: [{key: {files: [a.lock]}}, {key: {files: [a.lock]}}]}', {
    keyFiles,
  })
  expect(job!.cache.map(({ key }) => key)).toEqual([`0_a-${digest('2')}`, `1_a-${digest('2')}`])
})

test('says which files it needs, each once', () => {
  const parsed = parse(`
    a: {script: x, cache: [{key: {files: [a, b]}}, {key: {files_commits: [c]}}, {key: k}]}
    b: {script: x, cache: {key: {files: [b]}}}`)
  expect(parsed).toMatchObject({ config: { keyFiles: { files: ['a', 'b'], filesCommits: ['c'] } } })
})
