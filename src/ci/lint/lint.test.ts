import { describe, expect, test } from 'vitest'
import { compile } from '../compile/compile.ts'
import { contextOf } from '../fixtures/pipelines.ts'
import { ownFiles, parseIn } from '../fixtures/sources.ts'
import { lintAnswer } from './lint.ts'

const url = 'https://ci.example.test'
const lint = (source: string, { world = {}, dryRun = false } = {}) => {
  const parsed = parseIn(world, source)
  const compiled = dryRun && 'config' in parsed ? compile(parsed.config, contextOf()) : null
  return lintAnswer(parsed, compiled, { url, includeJobs: true })
}

describe('jobs', () => {
  const source = `
    default: {before_script: [b]}
    deploy: {stage: deploy, script: d, environment: {name: prod}, when: manual, rules: [{if: $NOPE}], tags: [t]}
    test: {script: [x, y], after_script: z, needs: [build]}
    build: {stage: build, script: b, inherit: {default: false}, only: [main]}`

  test('of the file: all, in the order of their stages', () => {
    expect(lint(source)).toMatchObject({ valid: true, errors: [], warnings: [], includes: [] })
    expect(lint(source).jobs).toEqual([
      {
        name: 'build',
        stage: 'build',
        before_script: [],
        script: ['b'],
        after_script: [],
        tag_list: [],
        only: { refs: ['main'] },
        except: null,
        environment: null,
        when: 'on_success',
        allow_failure: false,
        needs: null,
      },
      {
        name: 'test',
        stage: 'test',
        before_script: ['b'],
        script: ['x', 'y'],
        after_script: ['z'],
        tag_list: [],
        only: { refs: ['branches', 'tags'] },
        except: null,
        environment: null,
        when: 'on_success',
        allow_failure: false,
        needs: [{ name: 'build', artifacts: true, optional: false }],
      },
      expect.objectContaining({
        name: 'deploy',
        environment: 'prod',
        tag_list: ['t'],
        when: 'manual',
        allow_failure: true,
        only: null,
      }),
    ])
  })

  test('of a dry run: those that a push would make', () => {
    const { jobs } = lint(source, { dryRun: true })
    expect(jobs!.map(({ name }) => name)).toEqual(['build', 'test'])
    expect(jobs![1]).toEqual({
      name: 'test',
      stage: 'test',
      before_script: ['b'],
      script: ['x', 'y'],
      after_script: ['z'],
      tag_list: [],
      environment: null,
      when: 'on_success',
      allow_failure: false,
    })
  })

  test('are left out unless asked for', () => {
    const answer = lintAnswer(parseIn({}, 'a: {script: x}'), null, { url })
    expect(answer).toEqual({
      valid: true,
      merged_yaml: '---\na:\n  script: x\n',
      errors: [],
      warnings: [],
      includes: [],
    })
  })
})

describe('errors', () => {
  test('of entries come with the merged file', () => {
    expect(lint('.x: {a: 1}')).toEqual({
      valid: false,
      merged_yaml: '---\n.x:\n  a: 1\n',
      errors: ['jobs config should contain at least one visible job'],
      warnings: [],
      includes: [],
      jobs: [],
    })
  })
  test('of the text without', () => {
    expect(lint('a: [')).toMatchObject({ valid: false, merged_yaml: null, jobs: [] })
    expect(lint('a: {script: !reference [b, c]}')).toMatchObject({ valid: false, merged_yaml: null })
  })
  test('of a dry run', () => {
    const source = 'a: {script: x, rules: []}'
    expect(lint(source).valid).toBe(true)
    expect(lint(source, { dryRun: true })).toMatchObject({
      valid: false,
      errors: [
        'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
      ],
    })
  })
})

test('at most 25 warnings', () => {
  const jobs = Array.from({ length: 30 }, (_, i) => `j${i}: {script: x, rules: [{when: always}]}`)
  expect(lint(jobs.join('\n')).warnings).toHaveLength(25)
})

test('includes, with links', () => {
  const world = {
    ...ownFiles({ 'ci/a.yml': '.a: 1' }),
    remote: { 'https://x.test/b.yml': '.b: 1' },
  }
  const context = { context_project: 'acme/app', context_sha: 'sha-HEAD' }
  const source = 'include: [ci/a.yml, https://x.test/b.yml, {template: Bash.gitlab-ci.yml}]\na: {script: x}'
  expect(lint(source, { world }).includes).toEqual([
    {
      type: 'local',
      location: 'ci/a.yml',
      blob: `${url}/acme/app/-/blob/sha-HEAD/ci/a.yml`,
      raw: `${url}/acme/app/-/raw/sha-HEAD/ci/a.yml`,
      extra: {},
      ...context,
    },
    {
      type: 'remote',
      location: 'https://x.test/b.yml',
      blob: null,
      raw: 'https://x.test/b.yml',
      extra: {},
      ...context,
    },
    { type: 'template', location: 'Bash.gitlab-ci.yml', blob: null, raw: null, extra: {}, ...context },
  ])
})
