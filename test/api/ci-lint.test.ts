// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import { bodyOf } from '../world/bodies.ts'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: CiProjects
beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const answer = ({ status, body }: Reply): unknown[] => [status, body]
const simple = 'test:\n  script: make\n'
const valid = {
  valid: true,
  merged_yaml: '---\ntest:\n  script: make\n',
  errors: [],
  warnings: [],
  includes: [],
}
const noJobs = 'jobs config should contain at least one visible job'
const noFile = 'Please provide content of .gitlab-ci.yml'
const job = {
  name: 'test',
  stage: 'test',
  before_script: [],
  script: ['make'],
  after_script: [],
  tag_list: [],
  only: { refs: ['branches', 'tags'] },
  except: null,
  environment: null,
  when: 'on_success',
  allow_failure: false,
  needs: null,
}
const { only: _only, except: _except, needs: _needs, ...jobOfRun } = job

interface Place {
  ci: CiProject
  path: string
  developer: Person
}

async function place(config: Json | string = simple, fields: Json = {}): Promise<Place> {
  const ci = await projects.make(config, fields)
  const developer = await world.member({ project: ci.project }, 'developer')
  return { ci, path: `/projects/${ci.id}/ci/lint`, developer }
}

describe('a configuration that is given', () => {
  test('is answered with 200 whether it is valid or not', async () => {
    const { path, developer } = await place()
    const good = await developer.post(path, { content: simple })
    expect([good.status, good.text]).toEqual([200, JSON.stringify(valid)])
    expect(answer(await developer.post(path, { content: '.x: {a: 1}' }))).toEqual([
      200,
      { valid: false, merged_yaml: '---\n.x:\n  a: 1\n', errors: [noJobs], warnings: [], includes: [] },
    ])
    expect(bodyOf(await developer.post(path, { content: '' }))).toMatchObject({
      valid: false,
      errors: [noFile],
    })
    expect(bodyOf(await developer.post(path, { content: 'a: [' }))).toMatchObject({
      valid: false,
      merged_yaml: null,
      errors: [expect.stringContaining('(<unknown>)')],
    })
  })

  test('has all faults of its entries told', async () => {
    const { path, developer } = await place()
    const content = 'a: {script: x, when: odd}\nb: {}\n'
    expect(bodyOf(await developer.post(path, { content }))['errors']).toEqual([
      'jobs:a when should be one of: on_success, on_failure, always, manual, delayed',
      'jobs b config should implement the script:, run:, or trigger: keyword',
    ])
  })

  test('has its jobs told, if asked for', async () => {
    const { path, developer } = await place()
    const with_jobs = { content: simple, include_jobs: true }
    expect(answer(await developer.post(path, with_jobs))).toEqual([200, { ...valid, jobs: [job] }])
    expect(answer(await developer.post(path, { ...with_jobs, dry_run: true, ref: 'main' }))).toEqual([
      200,
      {
        ...valid,
        valid: false,
        errors: [
          "You do not have sufficient permission to run a pipeline on 'main'. " +
            'Please select a different branch or contact your administrator for assistance.',
        ],
        jobs: [],
      },
    ])
    expect(answer(await world.root.post(path, { ...with_jobs, dry_run: true }))).toEqual([
      200,
      { ...valid, jobs: [jobOfRun] },
    ])
  })

  test('may include files of the project, and of others that the caller sees', async () => {
    const { ci, path, developer } = await place()
    const sha = await ci.push({ 'ci/a.yml': '.a: {image: alpine}\n' }, { options: ['ci.skip'] })
    const open = await place({ shared: { script: ['s'] } }, { visibility: 'internal' })
    const shut = await place({ secret: { script: ['s'] } })
    const [own, other] = [ci, open.ci].map((one) => one.project['path_with_namespace'] as string)
    const content = `include:\n  - ci/a.yml\n  - {project: ${other!}, file: .gitlab-ci.yml}\n${simple}`
    const lint = bodyOf(await developer.post(path, { content, include_jobs: true }))
    const context = { context_project: own, context_sha: sha }
    expect(lint['errors']).toEqual([])
    expect(lint['includes']).toEqual([
      {
        type: 'local',
        location: 'ci/a.yml',
        blob: `${world.url}/${own!}/-/blob/${sha}/ci/a.yml`,
        raw: `${world.url}/${own!}/-/raw/${sha}/ci/a.yml`,
        extra: {},
        ...context,
      },
      {
        type: 'file',
        location: '.gitlab-ci.yml',
        blob: `${world.url}/${other!}/-/blob/${open.ci.sha}/.gitlab-ci.yml`,
        raw: `${world.url}/${other!}/-/raw/${open.ci.sha}/.gitlab-ci.yml`,
        extra: { project: other, ref: 'HEAD' },
        ...context,
      },
    ])
    expect((lint['jobs'] as Json[]).map(({ name }) => name as string).sort()).toEqual(['shared', 'test'])

    const hidden = shut.ci.project['path_with_namespace'] as string
    for (const [include, error] of [
      ['ci/none.yml', 'Local file `ci/none.yml` does not exist!'],
      ['../a.yml', /^Local file/],
      [
        { project: hidden, file: '.gitlab-ci.yml' },
        `Project \`${hidden}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`,
      ],
      [
        { project: other, ref: 'nowhere', file: '.gitlab-ci.yml' },
        `Project \`${other!}\` reference \`nowhere\` does not exist!`,
      ],
      [{ project: other, file: 'no.yml' }, `Project \`${other!}\` file \`no.yml\` does not exist!`],
      ['https://example.com/a.yml', /^Remote file could not be fetched because/],
    ] as const) {
      const refused = bodyOf(
        await developer.post(path, { content: JSON.stringify({ include, test: { script: 'x' } }) }),
      )
      expect(refused).toMatchObject({ valid: false, includes: [] })
      expect(refused['errors']).toEqual([typeof error === 'string' ? error : expect.stringMatching(error)])
    }
  })

  test('may include files by a pattern', async () => {
    const { ci, path, developer } = await place()
    await ci.push(
      { 'ci/a.yml': 'a: {script: a}\n', 'ci/b.yml': 'b: {script: b}\n' },
      { options: ['ci.skip'] },
    )
    const lint = bodyOf(await developer.post(path, { content: 'include: ci/*.yml', include_jobs: true }))
    expect((lint['jobs'] as Json[]).map(({ name }) => name as string)).toEqual(['a', 'b'])
  })

  test('shows no protected variable to those who could not use it', async () => {
    const { ci, path, developer } = await place()
    const variables = `/projects/${ci.id}/variables`
    expectStatus(await world.root.post(variables, { key: 'SHUT', value: 'shut-value', protected: true }), 201)
    expectStatus(await world.root.post(variables, { key: 'OPEN', value: 'open-value' }), 201)
    const content = 'include: ["$SHUT-$OPEN.yml"]'
    const errors = async (person: Person) =>
      bodyOf(await person.post(path, { content }))['errors'] as string[]
    expect(await errors(developer)).toEqual(['Local file `-open-value.yml` does not exist!'])
    expect(await errors(world.root)).toEqual(['Local file `shut-value-open-value.yml` does not exist!'])
  })

  test('is needed', async () => {
    const { path, developer } = await place()
    expect(answer(await developer.post(path, {}))).toEqual([400, { error: 'content is missing' }])
    expect(answer(await developer.post(path, { content: 'x', dry_run: 'maybe' }))).toEqual([
      400,
      { error: 'dry_run is invalid' },
    ])
  })

  test('may be checked before anything was pushed', async () => {
    const project = await world.project()
    const path = `/projects/${project.id}/ci/lint`
    expect(answer(await world.root.post(path, { content: simple }))).toEqual([200, valid])
    expect(bodyOf(await world.root.post(path, { content: 'include: a.yml' }))['errors']).toEqual([
      'Local file `a.yml` does not exist!',
    ])
    expect(bodyOf(await world.root.post(path, { content: simple, dry_run: true }))).toMatchObject({
      valid: false,
      errors: ['Reference not found'],
    })
  })

  test('is for those who may run pipelines', async () => {
    const { ci, path } = await place(simple, { visibility: 'public' })
    const reporter = await world.member({ project: ci.project }, 'reporter')
    expect(answer(await world.anonymous.post(path, { content: simple }))).toEqual([
      401,
      { message: '401 Unauthorized' },
    ])
    expect(answer(await reporter.post(path, { content: simple }))).toEqual([
      403,
      { message: '403 Forbidden' },
    ])
  })
})

describe('the configuration of a commit', () => {
  test('is that of the default branch unless another is named', async () => {
    const { ci, path, developer } = await place()
    const other = await ci.push({ '.gitlab-ci.yml': '.x: {a: 1}\n' }, { to: 'other', options: ['ci.skip'] })
    expect(answer(await developer.get(path))).toEqual([200, valid])
    for (const query of [
      'content_ref=other',
      'sha=other',
      `content_ref=${other}`,
      `sha=${other.slice(0, 10)}`,
    ]) {
      expect(bodyOf(await developer.get(`${path}?${query}`)), query).toMatchObject({
        valid: false,
        errors: [noJobs],
      })
    }
    expect(answer(await developer.get(`${path}?sha=${ci.sha}&include_jobs=true`))).toEqual([
      200,
      { ...valid, jobs: [job] },
    ])
  })

  test('may lie elsewhere, or be missing', async () => {
    const { ci, path, developer } = await place()
    await ci.push(
      { 'ci/main.yml': 'include: ci/more.yml\n', 'ci/more.yml': simple },
      { options: ['ci.skip'] },
    )
    expectStatus(await world.root.put(`/projects/${ci.id}`, { ci_config_path: 'ci/main.yml' }), 200)
    expect(bodyOf(await developer.get(path))).toMatchObject({
      valid: true,
      includes: [{ type: 'local', location: 'ci/more.yml' }],
    })
    expectStatus(await world.root.put(`/projects/${ci.id}`, { ci_config_path: 'none.yml' }), 200)
    expect(bodyOf(await developer.get(path))).toMatchObject({ valid: false, errors: [noFile] })
  })

  test('has the rules of its jobs asked in a dry run, as for a push to the ref', async () => {
    const { ci, path } = await place(
      `${simple}  rules: [{if: $CI_COMMIT_BRANCH == "free"}]\nfiles: {script: x, rules: [{exists: [.gitlab-ci.yml]}]}\n`,
    )
    await ci.push({ 'more.txt': 'x' }, { to: 'free', options: ['ci.skip'] })
    const names = async (query: string) => {
      const lint = bodyOf(await world.root.get(`${path}?dry_run=true&include_jobs=true&${query}`))
      expect(lint['errors']).toEqual([])
      return (lint['jobs'] as Json[]).map(({ name }) => name as string)
    }
    expect(await names('')).toEqual(['files'])
    expect(await names('dry_run_ref=free')).toEqual(['test', 'files'])
    expect(await names('ref=free')).toEqual(['test', 'files'])
    const nothing = await place('test: {script: x, rules: [{if: $NOPE}]}')
    expect(bodyOf(await world.root.get(`${nothing.path}?dry_run=true`))['errors']).toEqual([
      'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
    ])
    expect(bodyOf(await world.root.get(`${path}?dry_run=true&dry_run_ref=nowhere`))['errors']).toEqual([
      'Reference not found',
    ])
  })

  test('comes with at most 25 warnings', async () => {
    const jobs = Array.from({ length: 30 }, (_, index) => `j${index}: {script: x, rules: [{when: always}]}`)
    const { path, developer } = await place(jobs.join('\n'))
    const lint = bodyOf(await developer.get(path))
    expect(lint['valid']).toBe(true)
    expect(lint['warnings']).toHaveLength(25)
  })

  test.each([
    ['content_ref=main&sha=main', 400, { error: 'content_ref, sha are mutually exclusive' }],
    ['dry_run_ref=main&ref=main', 400, { error: 'dry_run_ref, ref are mutually exclusive' }],
    ['content_ref=nowhere', 404, { message: '404 Commit Not Found' }],
    ['sha=0123456789012345678901234567890123456789', 404, { message: '404 Commit Not Found' }],
    ['content_ref=--all', 404, { message: '404 Commit Not Found' }],
  ])('is not answered with %s', async (query, status, body) => {
    const { path, developer } = await place()
    expect(answer(await developer.get(`${path}?${query}`))).toEqual([status, body])
  })

  test('is missing where nothing was pushed', async () => {
    const project = await world.project()
    expect(answer(await world.root.get(`/projects/${project.id}/ci/lint`))).toEqual([
      404,
      { message: '404 Repository Not Found' },
    ])
  })

  test('is for those who may read the code; variables in it are not', async () => {
    const { ci, path } = await place('include: ["x$OPEN.yml"]\n', { visibility: 'public' })
    expectStatus(await world.root.post(`/projects/${ci.id}/variables`, { key: 'OPEN', value: 'open' }), 201)
    expect(bodyOf(await world.anonymous.get(path))['errors']).toEqual(['Local file `x.yml` does not exist!'])
    expect(bodyOf(await world.anonymous.get(`${path}?dry_run=true`))['valid']).toBe(false)
    const hidden = await place()
    const guest = await world.member({ project: hidden.ci.project }, 'guest')
    expect(answer(await world.anonymous.get(hidden.path))).toEqual([
      404,
      { message: '404 Project Not Found' },
    ])
    expect(answer(await guest.get(hidden.path))).toEqual([403, { message: '403 Forbidden' }])
  })
})
