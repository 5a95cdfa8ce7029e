import { expect, test } from 'vitest'
import { jobFolder } from './job-folder.ts'
import type { JobPayload, JobVariable } from './payload.ts'
import { expandReferences, jobVariables } from './variables.ts'

const facts = { slot: 1, projectSlot: 0, version: '1', path: '/bin', shell: '/bin/bash' }

function variablesOf(variables: JobVariable[]) {
  const folder = jobFolder('/jobs', 9, 'team/app', undefined)
  const git = { repo_url: 'https://gitlab-ci-token:p%40ss@host/a.git', ref: 'main', sha: '0' }
  const job = { id: 9, token: 'job-token', job_info: { name: 'x', project_id: 1 }, git_info: git, variables }
  return jobVariables(job satisfies JobPayload, folder, facts)
}

test.each([
  ['$A', 'a'],
  ['${A}b', 'ab'],
  ['$Ab$A', 'a'],
  ['$$A', '$A'],
  ['$NONE-', '-'],
  ['100$', '100$'],
  ['$ x', '$ x'],
  ['a${', 'a'],
  ['$1x$@', 'x'],
  ['${}', ''],
])('%s becomes %s', (text, expected) => {
  expect(expandReferences(text, (name) => (name === 'A' ? 'a' : undefined))).toBe(expected)
})

test('what the runner sets wins, and the last of several values', () => {
  const { environment } = variablesOf([
    { key: 'CI_PROJECT_DIR', value: '/etc' },
    { key: 'A', value: 'first' },
    { key: 'A', value: 'in $CI_PROJECT_DIR' },
    { key: 'RAW', value: '$A', raw: true },
    { key: 'NUL', value: 'a\0b', raw: true },
    { key: 'bad=name', value: 'x' },
  ])

  expect(environment).toMatchObject({
    CI_PROJECT_DIR: '/jobs/9/builds/team/app',
    CI_CONCURRENT_ID: '1',
    A: 'in /jobs/9/builds/team/app',
    RAW: '$A',
    NUL: 'ab',
    PATH: '/bin',
  })
  expect(environment).not.toHaveProperty('bad=name')
})

test('file variables become paths, also where others refer to them', () => {
  const { environment, files } = variablesOf([
    { key: 'CERT', value: 'content of $CI_PROJECT_DIR', file: true, raw: true },
    { key: 'OPTION', value: '--cert=$CERT' },
  ])

  expect(files).toEqual([{ path: '/jobs/9/builds/team/app.tmp/CERT', content: 'content of $CI_PROJECT_DIR' }])
  expect(environment.OPTION).toBe('--cert=/jobs/9/builds/team/app.tmp/CERT')
})

test('secrets: masked values before and after expansion, and all tokens', () => {
  const { secrets } = variablesOf([
    { key: 'A', value: 'aaa', masked: true },
    { key: 'B', value: '$A-b', masked: true },
  ])

  expect(secrets).toEqual(expect.arrayContaining(['aaa', '$A-b', 'aaa-b', 'job-token', 'p@ss', 'p%40ss']))
  expect(secrets).not.toContain('')
})

test.each([
  ['../../etc', '/jobs/9/builds/etc'],
  ['/abs/./x', '/jobs/9/builds/abs/x'],
  ['', '/jobs/9/builds/project'],
])('project path %s', (projectPath, expected) => {
  expect(jobFolder('/jobs', 9, projectPath, undefined).project).toBe(expected)
})
