import { afterAll, beforeAll, expect, test } from 'vitest'
import { startWorld, type Json, type World } from '../world/world.ts'
import { CiProjects, until, type CiProject } from './ci-project.ts'

/** The service with the runner it brings along. */
let world: World
let projects: CiProjects
beforeAll(async () => {
  world = await startWorld({ ROLES: 'web,tasks,runner', RUNNER_CONCURRENCY: '2', SHUTDOWN_TIMEOUT: '3' })
  projects = await CiProjects.open(world)
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

async function ended(ci: CiProject, pipeline: Json): Promise<Json> {
  return until(
    async () =>
      (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}`)).body as Json,
    ({ status }) => ['success', 'failed', 'canceled'].includes(status as string),
    60_000,
  )
}

async function logs(ci: CiProject, pipeline: Json): Promise<Record<string, string>> {
  const jobs = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}/jobs`))
    .body as Json[]
  const entries = jobs.map(async ({ id, name }) => [
    name as string,
    (await world.root.get(`/projects/${ci.id}/jobs/${id as number}/trace`)).text,
  ])
  return Object.fromEntries((await Promise.all(entries)) as [string, string][])
}

test('a push is built, tested with what was built, and seen', async () => {
  const ci = await projects.make({ test: { script: ['true'] } }, { shared_runners_enabled: true })
  const sha = await ci.push({
    'hello.sh': 'echo "hello, $WHO"\n',
    '.gitlab-ci.yml': `
stages: [build, test]
variables: {WHO: world}
build:
  stage: build
  script:
    - mkdir out
    - sh hello.sh > out/greeting.txt
    - echo "VERSION=1.2" > build.env
  artifacts:
    paths: [out/]
    reports: {dotenv: build.env}
test:
  stage: test
  script:
    - cat out/greeting.txt
    - echo "version $VERSION of $CI_COMMIT_SHA on $CI_COMMIT_REF_NAME"
`,
  })
  const [pipeline] = await until(
    async () => (await world.root.get(`/projects/${ci.id}/pipelines?sha=${sha}`)).body as Json[],
    (found) => found.length > 0,
  )
  const done = await ended(ci, pipeline!)
  const text = await logs(ci, pipeline!)
  expect(done['status'], JSON.stringify(text)).toBe('success')
  expect(text['test']).toContain('hello, world')
  expect(text['test']).toContain(`version 1.2 of ${sha} on main`)
  expect(done['duration']).toBeTypeOf('number')
}, 90_000)

test('a failing script fails the pipeline, and says so', async () => {
  const ci = await projects.make(
    { test: { script: ['echo before', 'exit 3'] } },
    { shared_runners_enabled: true },
  )
  const pipeline = await ci.run(world.root)
  expect((await ended(ci, pipeline))['status']).toBe('failed')
  const [job] = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}/jobs`))
    .body as Json[]
  expect(job).toMatchObject({ failure_reason: 'script_failure', runner: { is_shared: true } })
  expect((await logs(ci, pipeline))['test']).toContain('before')
}, 90_000)

test('a job that is canceled stops', async () => {
  const ci = await projects.make(
    { test: { script: ['echo started', 'sleep 600'] } },
    { shared_runners_enabled: true },
  )
  const pipeline = await ci.run(world.root)
  await until(
    () => logs(ci, pipeline),
    (text) => text['test']?.includes('started') === true,
    30_000,
  )
  await world.root.post(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}/cancel`)
  expect((await ended(ci, pipeline))['status']).toBe('canceled')
}, 90_000)

test('variables that are masked do not show', async () => {
  const ci = await projects.make(
    { test: { script: ['echo "the key is $KEY"'] } },
    { shared_runners_enabled: true },
  )
  await world.root.post(`/projects/${ci.id}/variables`, { key: 'KEY', value: 'topsecretvalue', masked: true })
  const pipeline = await ci.run(world.root)
  await ended(ci, pipeline)
  expect((await logs(ci, pipeline))['test']).toContain('the key is [MASKED]')
}, 90_000)

test('a job makes its release where no client for that is installed', async () => {
  const release = {
    stage: 'deploy',
    script: ['printf "What is \\"new\\":\\n\\n- \\$all\\n" > notes.md'],
    release: {
      tag_name: 'v$CI_PIPELINE_IID',
      name: 'The "first" of $CI_PROJECT_NAME',
      description: 'notes.md',
      tag_message: 'signed off',
      milestones: ['m1'],
      assets: { links: [{ name: 'site', url: 'https://example.com/a', link_type: 'other', filepath: '/a' }] },
    },
  }
  const ci = await projects.make({ release }, { shared_runners_enabled: true })
  await world.root.post(`/projects/${ci.id}/milestones`, { title: 'm1' })
  const pipeline = await ci.run(world.root)
  const done = await ended(ci, pipeline)
  const text = await logs(ci, pipeline)
  expect(done['status'], JSON.stringify(text)).toBe('success')
  expect(text['release']).toContain(`Release v${pipeline['iid'] as number} is made.`)
  const { body } = await world.root.get(`/projects/${ci.id}/releases/v${pipeline['iid'] as number}`)
  expect(body).toMatchObject({
    name: `The "first" of ${ci.project['path'] as string}`,
    description: 'What is "new":\n\n- $all',
    commit: { id: ci.sha },
    milestones: [{ title: 'm1' }],
    assets: { links: [{ name: 'site', url: 'https://example.com/a', link_type: 'other' }] },
  })

  const jobs = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id'] as number}/jobs`))
    .body as Json[]
  const again = await world.root.post(`/projects/${ci.id}/jobs/${jobs[0]!['id'] as number}/retry`)
  expect(again.status).toBe(201)
  const retried = await until(
    async () => (await world.root.get(`/projects/${ci.id}/jobs/${again.body.id as number}`)).body as Json,
    ({ status }) => ['success', 'failed'].includes(status as string),
    60_000,
  )
  expect(retried).toMatchObject({ status: 'failed', failure_reason: 'script_failure' })
  const { text: log } = await world.root.get(`/projects/${ci.id}/jobs/${again.body.id as number}/trace`)
  expect(log).toContain('the release could not be made: 409')
})
