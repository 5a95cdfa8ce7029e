import { describe, expect, test } from 'vitest'
import { compileSource, jobsOf } from '../fixtures/pipelines.ts'
import type { CompileContext } from '../types.ts'

/** Which jobs there are, and how rules change them. */

type Changes = Partial<CompileContext>
const names = (source: string, changes: Changes = {}) => {
  const result = compileSource(source, changes)
  return 'errors' in result ? result.errors : result.jobs.map(({ name }) => name)
}
const mergeRequest: Changes = { source: 'merge_request_event' }
const tag: Changes = { ref: 'v1.0', refType: 'tag' }
const given = (...variables: { key: string; value: string; environmentScope?: string }[]): Changes => ({
  variables: { predefined: [], given: variables },
})

describe('only and except', () => {
  const present = (keys: string, changes: Changes) =>
    names(`a: {script: x, ${keys}}\nz: {script: x, rules: [{when: always}]}`, changes).includes('a')
  test.each<[string, Changes, boolean]>([
    ['', {}, true],
    ['', tag, true],
    ['', mergeRequest, false],
    ['only: [branches]', {}, true],
    ['only: [branches]', tag, false],
    ['only: [branches]', mergeRequest, false],
    ['only: [tags]', tag, true],
    ['only: [main]', {}, true],
    ['only: [main]', { ref: 'other' }, false],
    ['only: [main]', mergeRequest, false],
    ['only: [/^v\\d/]', tag, true],
    ['only: [/^V\\d/]', tag, false],
    ['only: [/^V\\d/i]', tag, true],
    ['only: [merge_requests]', mergeRequest, true],
    ['only: [merge_requests]', {}, false],
    ['only: [schedules]', { source: 'schedule' }, true],
    ['only: [pushes]', {}, true],
    ['only: [triggers, web]', { source: 'web' }, true],
    ['only: [pipelines]', { source: 'pipeline' }, true],
    ['only: [api]', { source: 'api' }, true],
    ['only: [chat]', { source: 'chat' }, true],
    ['only: [main@acme/app]', {}, true],
    ['only: [main@acme/other]', {}, false],
    ['only: [branches@acme/app]', {}, true],
    ['only: [/^ma@?in/@acme/app]', {}, true],
    ['only: {variables: [$CI_COMMIT_BRANCH == "main"]}', {}, true],
    ['only: {variables: [$NOPE, $NOPE2]}', {}, false],
    ['only: {changes: ["src/**/*"]}', { changedPaths: ['src/a/b.ts'] }, true],
    ['only: {changes: ["src/**/*"]}', { changedPaths: ['doc/a'] }, false],
    ['only: {changes: ["src/**/*"]}', { changedPaths: null }, true],
    ['only: {changes: [x]}', { ...mergeRequest, changedPaths: ['x'] }, false],
    ['only: {refs: [main], changes: [x]}', { changedPaths: ['y'] }, false],
    ['only: {kubernetes: active}', {}, false],
    ['only: {kubernetes: active}', { kubernetesActive: true }, true],
    ['except: [main]', {}, false],
    ['except: [tags]', {}, true],
    ['except: [tags]', tag, false],
    ['except: {variables: [$CI_COMMIT_BRANCH]}', {}, false],
    ['except: {refs: [tags], changes: [x]}', { changedPaths: ['x'] }, false],
    ['only: [main], except: [schedules]', { source: 'schedule' }, false],
  ])('%s %j: %s', (keys, changes, expected) => expect(present(keys, changes)).toBe(expected))

  test('the default does not count beside workflow rules', () => {
    expect(names('workflow: {rules: [{when: always}]}\na: {script: x}', mergeRequest)).toEqual(['a'])
  })

  test('is shown as it counts', () => {
    const [a, b, c] = jobsOf(
      'a: {script: x}\nb: {script: x, only: [main], except: [tags]}\nc: {script: x, rules: [{when: always}]}',
    )
    expect([a!.only, a!.except]).toEqual([{ refs: ['branches', 'tags'] }, null])
    expect([b!.only, b!.except]).toEqual([{ refs: ['main'] }, { refs: ['tags'] }])
    expect([c!.only, c!.except]).toEqual([null, null])
  })
})

describe('rules', () => {
  const one = (keys: string, changes: Changes = {}) => {
    const result = compileSource(`a: {script: x, ${keys}}`, changes)
    return 'errors' in result ? null : result.jobs[0]!
  }

  test.each<[string, Changes, boolean]>([
    ['[]', {}, false],
    ['[{}]', {}, true],
    ['[{when: never}]', {}, false],
    ['[{if: $NOPE}]', {}, false],
    ['[{if: $NOPE}, [{if: $CI_COMMIT_BRANCH}]]', {}, true],
    ['[{if: $CI_COMMIT_BRANCH, when: never}, {when: always}]', {}, false],
    ['[{changes: [a]}]', { changedPaths: ['a'] }, true],
    ['[{changes: [a]}]', { changedPaths: ['b'] }, false],
    ['[{changes: [a]}]', { changedPaths: null }, true],
    ['[{changes: {paths: ["$CI_COMMIT_BRANCH/*"]}}]', { changedPaths: ['main/x'] }, true],
    [
      '[{changes: {paths: [a], compare_to: "re$CI_COMMIT_BRANCH"}}]',
      { changedPathsSince: { remain: ['a'] } },
      true,
    ],
    [
      '[{changes: {paths: [a], compare_to: x}}]',
      { changedPaths: ['a'], changedPathsSince: { x: [] } },
      false,
    ],
    ['[{exists: [Dockerfile]}]', { treePaths: ['Dockerfile'] }, true],
    ['[{exists: [Dockerfile]}]', { treePaths: ['x/Dockerfile'] }, false],
    ['[{exists: ["**/Dockerfile"]}]', { treePaths: ['x/Dockerfile'] }, true],
    ['[{exists: [x/]}]', { treePaths: ['x/Dockerfile'] }, true],
    ['[{exists: {paths: [f], project: g/p, ref: v1}}]', { otherTrees: { 'g/p@v1': ['f'] } }, true],
    ['[{if: $NOPE, exists: [f]}]', { treePaths: ['f'] }, false],
    ['[{exists: [f], changes: [f]}]', { treePaths: ['f'], changedPaths: [] }, false],
  ])('%s %j: %s', (rules, changes, expected) =>
    expect(one(`rules: ${rules}`, changes) !== null).toBe(expected),
  )

  test.each([
    ['changes: {paths: [a], compare_to: x}', 'rules:changes:compare_to is not a valid ref'],
    ['exists: {paths: [a], project: x}', 'rules:exists:project `x` is not a valid project'],
    ['exists: {paths: [a], project: x, ref: v9}', 'rules:exists:project `x` is not a valid project'],
    [
      'exists: {paths: [a], project: g/p, ref: v9}',
      'rules:exists:ref `v9` is not a valid ref in project `g/p`',
    ],
  ])('%s', (clause, reason) =>
    expect(names(`a: {script: x, rules: [{${clause}}]}`, { otherTrees: { 'g/p': [] } })).toEqual([
      `Failed to parse rule for a: ${reason}`,
    ]),
  )

  test('too many comparisons count as a match', () => {
    const treePaths = Array.from({ length: 30_000 }, (_, i) => `f${i}`)
    expect(one('rules: [{exists: ["*.x", "*.y"]}]', { treePaths })).not.toBeNull()
    expect(one('rules: [{exists: ["*.x"]}]', { treePaths })).toBeNull()
    expect(one('rules: [{exists: [x, y]}]', { treePaths })).toBeNull()
  })

  test.each([
    ['rules: [{when: manual}]', { when: 'manual', allowFailure: false }],
    ['rules: [{when: manual, allow_failure: true}]', { when: 'manual', allowFailure: true }],
    ['when: manual', { when: 'manual', allowFailure: true }],
    ['when: manual, allow_failure: false', { when: 'manual', allowFailure: false }],
    ['when: manual, rules: [{if: $CI_COMMIT_BRANCH}]', { when: 'manual', allowFailure: true }],
    ['when: manual, rules: [{when: on_success}]', { when: 'on_success', allowFailure: false }],
    ['allow_failure: true, rules: [{when: always}]', { when: 'always', allowFailure: true }],
    ['allow_failure: {exit_codes: 3}', { allowFailure: false, allowFailureExitCodes: [3] }],
    ['rules: [{when: delayed, start_in: 1 day}]', { when: 'delayed', startIn: 86400 }],
    ['when: delayed, start_in: 5 minutes', { when: 'delayed', startIn: 300 }],
    ['interruptible: true, rules: [{interruptible: false}]', { interruptible: false }],
    [
      'variables: {A: a, B: b}, rules: [{variables: {B: r, C: c}}]',
      {
        variables: [
          { key: 'A', value: 'a' },
          { key: 'B', value: 'r' },
          { key: 'C', value: 'c' },
        ],
      },
    ],
    ['rules: [{if: $NOPE, needs: [x]}, {needs: []}]'.replace('[x]', '[]'), { needs: [] }],
  ])('%s', (keys, expected) => expect(one(keys)).toMatchObject(expected))

  test('needs of a rule replace those of the job', () => {
    const source = (rule: string) =>
      `a: {script: x}\nb: {script: x}\nc: {script: x, needs: [a], rules: [{${rule}}]}`
    const needs = (rule: string) => jobsOf(source(rule)).find(({ name }) => name === 'c')!.needs
    expect(needs('when: always')).toMatchObject([{ name: 'a' }])
    expect(needs('when: always, needs: [b]')).toMatchObject([{ name: 'b' }])
    expect(needs('when: always, needs: []')).toEqual([])
  })
})

describe('workflow', () => {
  const workflow = (rest: string, changes: Changes = {}) =>
    compileSource(`workflow: ${rest}\nvariables: {A: a, B: b}\na: {script: x, variables: {B: job}}`, changes)
  test('refuses the pipeline', () => {
    const refused = {
      errors: ['The pipeline did not run. Review the workflow:rules configuration for the pipeline.'],
      failureReason: 'filtered_by_workflow_rules',
    }
    expect(workflow('{rules: [{if: $NOPE}]}')).toMatchObject(refused)
    expect(workflow('{rules: [{when: never}]}')).toMatchObject(refused)
  })
  test('sets variables between global and job ones, and auto_cancel', () => {
    const rule = '{variables: {A: wf, B: wf, C: wf}, auto_cancel: {on_new_commit: none}}'
    const made = workflow(
      `{auto_cancel: {on_job_failure: all, on_new_commit: interruptible}, rules: [${rule}]}`,
    )
    expect(made).toMatchObject({
      autoCancel: { onNewCommit: 'none', onJobFailure: 'all' },
      variables: [
        { key: 'A', value: 'wf' },
        { key: 'B', value: 'wf' },
        { key: 'C', value: 'wf' },
      ],
      jobs: [
        {
          variables: [
            { key: 'A', value: 'wf' },
            { key: 'B', value: 'job' },
            { key: 'C', value: 'wf' },
          ],
        },
      ],
    })
  })
  test('names the pipeline', () => {
    expect(workflow('{name: "Run $A of $CI_COMMIT_BRANCH"}')).toMatchObject({ workflowName: 'Run a of main' })
    expect(workflow('{name: " "}')).toMatchObject({ workflowName: null })
    const long = given({ key: 'LONG', value: `${'x'.repeat(254)}😀😀` })
    expect(workflow('{name: $LONG}', long)).toMatchObject({ workflowName: `${'x'.repeat(254)}😀` })
    expect(workflow('{}')).toMatchObject({
      workflowName: null,
      autoCancel: { onNewCommit: 'conservative', onJobFailure: 'none' },
    })
  })
})

describe('the whole pipeline', () => {
  test('jobs stand in the order of stages', () => {
    expect(
      names(
        'stages: [one, two]\nc: {script: x, stage: .post}\nb: {script: x, stage: two}\na: {script: x, stage: one}\nd: {script: x, stage: one}',
      ),
    ).toEqual(['a', 'd', 'b', 'c'])
  })
  test('empty, also when only the edge stages are left', () => {
    const empty = [
      'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
    ]
    expect(names('a: {script: x, rules: []}')).toEqual(empty)
    expect(names('a: {script: x, stage: .pre}')).toEqual(empty)
  })
  test('needs of jobs that rules left out', () => {
    const source = (need: string) =>
      `a: {script: x, rules: []}\nb: {script: x, needs: [${need}], dependencies: [a]}`
    expect(names(source('a'))).toEqual([
      "'b' job needs 'a' job, but 'a' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.",
    ])
    expect(jobsOf(source('{job: a, optional: true}'))).toMatchObject([
      { name: 'b', needs: [], dependencies: [] },
    ])
  })
  test('at most 50 needs', () => {
    expect(names('a: {script: x, parallel: 60}\nb: {script: x, needs: [a]}')).toEqual([
      'b: one job can only need 50 others, but you have listed 60. See needs keyword documentation for more details',
    ])
  })
  test('a limit of jobs', () => {
    expect(compileSource('a: {script: x, parallel: 3}', { maximumJobs: 2 })).toMatchObject({
      failureReason: 'size_limit_exceeded',
    })
    expect(names('a: {script: x, parallel: 2}', { maximumJobs: 2 })).toEqual(['a 1/2', 'a 2/2'])
  })
})

describe('variables', () => {
  test('outer ones win in rules and expansion, predefined ones lose', () => {
    const source =
      'variables: {A: file, CI_COMMIT_BRANCH: mine}\na: {script: x, tags: ["$A-$CI_COMMIT_BRANCH"], rules: [{if: $A == "given"}]}'
    expect(jobsOf(source, given({ key: 'A', value: 'given' }))[0]!.tags).toEqual(['given-mine'])
  })
  test('scoped ones reach jobs of that environment only, also its rules', () => {
    const source = `
      a: {script: x, environment: "review/$CI_COMMIT_BRANCH", rules: [{if: $S == "scoped"}]}
      b: {script: x, rules: [{if: $S == "scoped"}]}`
    expect(names(source, given({ key: 'S', value: 'scoped', environmentScope: 'review/*' }))).toEqual(['a'])
  })
  test('those of the job and its environment are known to rules', () => {
    const source = (condition: string) =>
      `a b: {script: x, parallel: 2, environment: {name: Prod, action: stop}, rules: [{if: '${condition}'}]}`
    for (const condition of [
      '$CI_JOB_NAME == "a b 1/2"',
      '$CI_JOB_GROUP_NAME == "a b" && $CI_NODE_INDEX == "1"',
      '$CI_JOB_NAME_SLUG == "a-b-1-2" && $CI_NODE_TOTAL == "2" && $CI_JOB_STAGE == "test"',
      '$CI_ENVIRONMENT_NAME == "Prod" && $CI_ENVIRONMENT_ACTION == "stop" && $CI_ENVIRONMENT_TIER == "production" && $CI_JOB_NAME =~ /1.2$/',
    ]) {
      expect(names(source(condition))[0]).toBe('a b 1/2')
    }
  })
  test('expand in environments, tags and resource groups, through one another', () => {
    const source = `
      variables: {A: $B, B: "b-$CI_COMMIT_BRANCH", R: {value: "$A", expand: false}}
      a: {script: x, tags: ["t-$A", "$NOPE"], resource_group: "g-\${A}", environment: "e/$A", variables: {X: $R}}`
    expect(jobsOf(source)[0]).toMatchObject({
      tags: ['t-b-main', '$NOPE'],
      resourceGroup: 'g-b-main',
      environment: { name: 'e/$A', expandedName: 'e/b-main' },
      variables: [
        { key: 'A', value: '$B' },
        { key: 'B' },
        { key: 'R', value: '$A', raw: true },
        { key: 'X', value: '$R' },
      ],
    })
  })
  test.each([
    ['variables: {A: $B, B: $A}\na: {script: x}'],
    ['variables: {A: $B, B: b}\na: {script: x, variables: {B: $A}}'],
  ])('circles are errors: %s', (source) => {
    const result = compileSource(source)
    expect('errors' in result && result.errors[0]).toMatch(
      /^circular variable reference detected: \["[AB]", "[AB]"\]$/,
    )
  })
})

test('combinations of a matrix that read the same are one job, the last of them', () => {
  const parallel = '{matrix: [{X: [a, b]}, {X: a, Y: ""}, {X: a}]}'
  const result = compileSource(`m: {script: x, parallel: ${parallel}}\nz: {script: x, needs: [m]}`)
  expect('jobs' in result && result.jobs.slice(0, 3)).toMatchObject([
    { name: 'm: [a]', parallel: { index: 4, total: 4 } },
    { name: 'm: [b]', parallel: { index: 2, total: 4 } },
    { name: 'm: [a, ]' },
  ])
  expect('jobs' in result && result.jobs[3]!.needs).toHaveLength(3)
})

describe('names of groups', () => {
  test.each([
    ['grp 1/2', 'grp'],
    ['grp 1:2', 'grp'],
    ['grp 1 2', 'grp'],
    ['job one 1/2: [x]', 'job one'],
    ['job: [a, b]', 'job'],
    ['job 1/2 3/4 5/6 7/8', 'job 1/2'],
    ['build 2', 'build 2'],
    ['v1/2', 'v1/2'],
    ['1/2', '1/2'],
  ])('%s: %s', (name, group) => {
    const rules = `[{if: '$CI_JOB_GROUP_NAME == "${group}"'}]`
    expect(jobsOf(`"${name}": {script: x, rules: ${rules}}`)).toMatchObject([{ name, groupName: group }])
  })
})
