// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { git } from '../git/copies.ts'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner, type RawJob } from '../runner/raw-runner.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

// Every row of the completions, 7.9, that does not belong to something the service does not have: which value a job gets,
// and whether the rules of the configuration see the variable. What the runner itself sets is tested with the runner.

type Expected = string | RegExp | ((facts: Facts) => string)
interface Facts {
  readonly url: URL
  readonly project: Json
  readonly sha: string
  readonly pipeline: Json
  readonly job: RawJob
  readonly user: Json
  readonly runner: RawRunner
}
/** `rules`: seen by the rules, too; `job`: by jobs only. */
type Row = readonly [key: string, seen: 'rules' | 'job', expected: Expected]

const path = ({ project }: Facts): string => project['path_with_namespace'] as string
const slug = (text: string): string => text.replaceAll(/[^a-z0-9]/g, '-')

const everywhere: readonly Row[] = [
  ['CI', 'rules', 'true'],
  ['GITLAB_CI', 'rules', 'true'],
  ['GITLAB_FEATURES', 'rules', ''],
  ['CI_SERVER', 'job', 'yes'],
  ['CI_API_V4_URL', 'rules', ({ url }) => `${url.origin}/api/v4`],
  ['CI_API_GRAPHQL_URL', 'rules', ({ url }) => `${url.origin}/api/graphql`],
  ['CI_SERVER_URL', 'rules', ({ url }) => url.origin],
  ['CI_SERVER_HOST', 'rules', ({ url }) => url.hostname],
  ['CI_SERVER_PORT', 'rules', ({ url }) => url.port],
  ['CI_SERVER_PROTOCOL', 'rules', 'http'],
  ['CI_SERVER_FQDN', 'rules', ({ url }) => url.host],
  ['CI_SERVER_NAME', 'rules', /\w/],
  ['CI_SERVER_REVISION', 'rules', /\w/],
  ['CI_SERVER_VERSION', 'rules', /^\d+\.\d+\.\d+/],
  ['CI_SERVER_VERSION_MAJOR', 'rules', /^\d+$/],
  ['CI_SERVER_VERSION_MINOR', 'rules', /^\d+$/],
  ['CI_SERVER_VERSION_PATCH', 'rules', /^\d+/],
  ['CI_SERVER_SHELL_SSH_HOST', 'rules', ({ url }) => url.hostname],
  ['CI_SERVER_SHELL_SSH_PORT', 'rules', /^\d+$/],
  ['CI_TEMPLATE_REGISTRY_HOST', 'rules', /\./],
  ['CI_CONFIG_PATH', 'rules', '.gitlab-ci.yml'],
  ['CI_DEFAULT_BRANCH', 'rules', 'main'],
  ['CI_DEFAULT_BRANCH_SLUG', 'rules', 'main'],
  ['CI_COMMIT_SHA', 'rules', ({ sha }) => sha],
  ['CI_COMMIT_SHORT_SHA', 'rules', ({ sha }) => sha.slice(0, 8)],
  ['CI_COMMIT_TITLE', 'rules', 'Cost: 5 $EUR'],
  ['CI_COMMIT_MESSAGE', 'rules', 'Cost: 5 $EUR\n\nMore of it\n'],
  ['CI_COMMIT_MESSAGE_IS_TRUNCATED', 'rules', 'false'],
  ['CI_COMMIT_DESCRIPTION', 'rules', 'More of it'],
  ['CI_COMMIT_AUTHOR', 'rules', /^.+ <.+@.+>$/],
  ['CI_COMMIT_TIMESTAMP', 'rules', /^\d{4}-\d\d-\d\dT/],
  ['CI_PIPELINE_ID', 'job', ({ pipeline }) => String(pipeline['id'])],
  ['CI_PIPELINE_URL', 'job', ({ pipeline }) => pipeline['web_url'] as string],
  ['CI_PIPELINE_CREATED_AT', 'job', /^\d{4}-\d\d-\d\dT[\d:]+Z$/],
  ['CI_PIPELINE_IID', 'rules', ({ pipeline }) => String(pipeline['iid'])],
  ['CI_PIPELINE_NAME', 'rules', 'Named'],
  ['CI_JOB_ID', 'job', ({ job }) => String(job.id)],
  [
    'CI_JOB_URL',
    'job',
    ({ url, job, ...rest }) => `${url.origin}/${path({ url, job, ...rest })}/-/jobs/${job.id}`,
  ],
  ['CI_JOB_TOKEN', 'job', ({ job }) => job.token],
  ['CI_JOB_STARTED_AT', 'job', /^\d{4}-\d\d-\d\dT[\d:]+Z$/],
  ['CI_JOB_STARTED_AT_SLUG', 'job', /^\d{4}-\d\d-\d\dt[\d-]+z$/],
  ['CI_JOB_IMAGE', 'job', 'alpine:3'],
  ['CI_JOB_TIMEOUT', 'job', '1200'],
  ['CI_JOB_NAME', 'rules', 'probe it 2/2'],
  ['CI_JOB_NAME_SLUG', 'rules', 'probe-it-2-2'],
  ['CI_JOB_GROUP_NAME', 'rules', 'probe it'],
  ['CI_JOB_STAGE', 'rules', 'build'],
  ['CI_NODE_INDEX', 'rules', '2'],
  ['CI_NODE_TOTAL', 'rules', '2'],
  ['CI_PROJECT_ID', 'rules', ({ project }) => String(project['id'])],
  ['CI_PROJECT_NAME', 'rules', ({ project }) => project['path'] as string],
  ['CI_PROJECT_TITLE', 'rules', ({ project }) => project['name'] as string],
  ['CI_PROJECT_PATH', 'rules', path],
  ['CI_PROJECT_PATH_SLUG', 'rules', (facts) => slug(path(facts))],
  ['CI_PROJECT_NAMESPACE', 'rules', ({ project }) => (project['namespace'] as Json)['full_path'] as string],
  ['CI_PROJECT_NAMESPACE_ID', 'rules', ({ project }) => String((project['namespace'] as Json)['id'])],
  [
    'CI_PROJECT_NAMESPACE_SLUG',
    'rules',
    ({ project }) => slug((project['namespace'] as Json)['full_path'] as string),
  ],
  ['CI_PROJECT_ROOT_NAMESPACE', 'rules', (facts) => path(facts).split('/')[0]!],
  ['CI_PROJECT_URL', 'rules', ({ project }) => project['web_url'] as string],
  ['CI_PROJECT_VISIBILITY', 'rules', 'private'],
  ['CI_PROJECT_DESCRIPTION', 'rules', 'For 5 $EUR'],
  ['CI_PROJECT_TOPICS', 'rules', 'one,two'],
  ['CI_PROJECT_REPOSITORY_LANGUAGES', 'rules', 'typescript,shell'],
  ['CI_PROJECT_CLASSIFICATION_LABEL', 'rules', ''],
  ['CI_PAGES_DOMAIN', 'rules', ({ url }) => `pages.${url.hostname}`],
  ['CI_PAGES_HOSTNAME', 'rules', (facts) => `${path(facts).split('/')[0]!}.pages.${facts.url.hostname}`],
  ['CI_PAGES_URL', 'rules', /^http:\/\/.+\.pages\..+\/.+$/],
  [
    'CI_REPOSITORY_URL',
    'job',
    ({ url, job, ...rest }) =>
      `http://gitlab-ci-token:${job.token}@${url.host}/${path({ url, job, ...rest })}.git`,
  ],
  ['CI_REGISTRY', 'rules', /./],
  ['CI_REGISTRY_IMAGE', 'rules', (facts) => new RegExp(`/${path(facts).toLowerCase()}$`).source],
  ['CI_REGISTRY_USER', 'job', 'gitlab-ci-token'],
  ['CI_REGISTRY_PASSWORD', 'job', ({ job }) => job.token],
  ['CI_ENVIRONMENT_ID', 'job', /^\d+$/],
  ['CI_ENVIRONMENT_NAME', 'rules', 'review/main-2'],
  ['CI_ENVIRONMENT_SLUG', 'rules', /^review-main-2.{0,11}$/],
  ['CI_ENVIRONMENT_URL', 'rules', 'https://example.com/review'],
  ['CI_ENVIRONMENT_ACTION', 'rules', 'start'],
  ['CI_ENVIRONMENT_TIER', 'rules', 'development'],
  ['CI_RUNNER_ID', 'job', ({ runner }) => String(runner.id)],
  ['CI_RUNNER_DESCRIPTION', 'job', 'prober'],
  ['CI_RUNNER_TAGS', 'job', '["one","two"]'],
  ['CI_RUNNER_VERSION', 'job', '18.2.0'],
  ['CI_RUNNER_REVISION', 'job', 'abcdef'],
  ['CI_RUNNER_EXECUTABLE_ARCH', 'job', 'linux/amd64'],
  ['CI_RUNNER_SHORT_TOKEN', 'job', ({ runner }) => runner.token.replace('glrt-', '').slice(0, 9)],
  ['GITLAB_USER_ID', 'rules', ({ user }) => String(user['id'])],
  ['GITLAB_USER_LOGIN', 'rules', ({ user }) => user['username'] as string],
  ['GITLAB_USER_NAME', 'rules', ({ user }) => user['name'] as string],
  ['GITLAB_USER_EMAIL', 'rules', ({ user }) => user['email'] as string],
]

const ofBranches: readonly Row[] = [
  ['CI_COMMIT_REF_NAME', 'rules', 'main'],
  ['CI_COMMIT_REF_SLUG', 'rules', 'main'],
  ['CI_COMMIT_REF_PROTECTED', 'rules', 'true'],
  ['CI_COMMIT_BRANCH', 'rules', 'main'],
  ['CI_COMMIT_BEFORE_SHA', 'rules', /^[0-9a-f]{40}$/],
]

const ofTags: readonly Row[] = [
  ['CI_COMMIT_REF_NAME', 'rules', 'v1.0'],
  ['CI_COMMIT_REF_SLUG', 'rules', 'v1-0'],
  ['CI_COMMIT_REF_PROTECTED', 'rules', 'false'],
  ['CI_COMMIT_TAG', 'rules', 'v1.0'],
  ['CI_COMMIT_TAG_MESSAGE', 'rules', 'The first, for 5 $EUR'],
  ['CI_COMMIT_BEFORE_SHA', 'rules', '0'.repeat(40)],
  ['CI_RELEASE_DESCRIPTION', 'rules', 'All of 5 $EUR'],
]

/** Not of this pipeline. */
const never = {
  branch: [
    'CI_COMMIT_TAG',
    'CI_COMMIT_TAG_MESSAGE',
    'CI_RELEASE_DESCRIPTION',
    'CI_MERGE_REQUEST_IID',
    'CI_PIPELINE_TRIGGERED',
    'CI_PIPELINE_SCHEDULE_DESCRIPTION',
    'CI_UPSTREAM_PIPELINE_ID',
    'CI_TRIGGER_SHORT_TOKEN',
    'TRIGGER_PAYLOAD',
    'CI_JOB_MANUAL',
  ],
  tag: ['CI_COMMIT_BRANCH'],
}

const keys = [...new Set([...everywhere, ...ofBranches, ...ofTags].map(([key]) => key).concat(never.branch))]
/** Of each job, and of jobs with an environment, by itself. */
const ofOneJob = /^CI_(JOB|NODE|ENVIRONMENT)_/

const probe = (stage: string): Json => ({
  stage,
  image: 'alpine:3',
  timeout: '20 minutes',
  environment: {
    name: 'review/$CI_COMMIT_REF_SLUG-$CI_NODE_INDEX',
    url: 'https://example.com/review',
  },
  parallel: 2,
  script: ['true'],
})
const config: Json = {
  stages: ['build', 'test'],
  workflow: { name: 'Named' },
  'probe it': probe('build'),
  ...Object.fromEntries(
    keys.map((key) => [
      `has ${key}`,
      {
        ...(ofOneJob.test(key) && probe('test')),
        stage: 'test',
        script: ['true'],
        rules: [{ if: `$${key} != null`, when: 'manual' }],
      },
    ]),
  ),
}

let world: World
let projects: CiProjects
let ci: CiProject
let runner: RawRunner
beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
  ci = await projects.make(config, { description: 'For 5 $EUR', topics: ['one', 'two'] })
  const files = { 'app.ts': 'export const one = 1\n'.repeat(9), 'run.sh': 'echo one\n' }
  await ci.push(files, { options: ['ci.skip'] })
  // Asked for they are found out now, else some time after the push.
  await until(
    async () => (await world.root.get(`/projects/${ci.id}/languages`)).body as Json,
    (languages) => Object.keys(languages).length === 2,
  )
  runner = await RawRunner.forProject(world, ci.project, { description: 'prober', tag_list: ['one', 'two'] })
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const identity = {
  system_id: 's_raw',
  info: { name: 'raw', version: '18.2.0', revision: 'abcdef', platform: 'linux', architecture: 'amd64' },
}

/** The second of the parallel jobs of a pipeline, taken, and the keys that rules saw. */
async function probed(pipeline: Json, sha: string): Promise<{ facts: Facts; seen: Set<string> }> {
  await runner.ask(identity)
  const job = await runner.take()
  expect(job.variable('CI_JOB_NAME')).toBe('probe it 2/2')
  const list: string[] = []
  for (let page = 1; page < 9; page += 1) {
    const { body } = await world.root.get(
      `/projects/${ci.id}/pipelines/${pipeline['id']}/jobs?per_page=100&page=${page}`,
    )
    list.push(...(body as Json[]).map(({ name }) => name as string))
  }
  return {
    seen: new Set(list.flatMap((name) => /^has (\w+)/.exec(name)?.[1] ?? [])),
    facts: {
      url: new URL(world.url),
      project: (await world.root.get(`/projects/${ci.id}`)).body as Json,
      user: (await world.root.get('/user')).body as Json,
      ...{ sha, pipeline, job, runner },
    },
  }
}

function check(rows: readonly Row[], { facts, seen }: Awaited<ReturnType<typeof probed>>): void {
  const got = rows.map(([key]) => [key, seen.has(key) ? 'rules' : 'job', facts.job.variable(key)])
  const expected = rows.map(([key, where, wanted]) => {
    const value = typeof wanted === 'function' ? wanted(facts) : wanted
    return [
      key,
      where,
      typeof value === 'string' && key !== 'CI_REGISTRY_IMAGE'
        ? value
        : (expect.stringMatching(value) as unknown),
    ]
  })
  expect(got).toEqual(expected)
}

describe('predefined variables', () => {
  test('of a pipeline of a branch', async () => {
    const sha = await ci.push({ a: 'a' }, { message: 'Cost: 5 $EUR\n\nMore of it' })
    const list = await until(
      async () => (await world.root.get(`/projects/${ci.id}/pipelines?sha=${sha}`)).body as Json[],
      ({ length }) => length > 0,
    )
    const found = await probed(list[0]!, sha)
    check([...everywhere, ...ofBranches], found)
    const wrong = never.branch.filter(
      (key) => found.seen.has(key) || found.facts.job.variable(key) !== undefined,
    )
    expect(wrong).toEqual([])
  })

  test('of a pipeline of an annotated tag with a release', async () => {
    await git(ci.folder, 'tag', '-a', '-m', 'The first, for 5 $EUR', 'v1.0')
    await git(ci.folder, 'push', '--quiet', '-o', 'ci.skip', 'origin', 'v1.0')
    const release = { tag_name: 'v1.0', description: 'All of 5 $EUR' }
    expectStatus(await world.root.post(`/projects/${ci.id}/releases`, release), 201)
    const pipeline = await ci.run(world.root, { ref: 'v1.0' })
    const found = await probed(pipeline, pipeline['sha'] as string)
    check(ofTags, found)
    expect(
      never.tag.filter((key) => found.seen.has(key) || found.facts.job.variable(key) !== undefined),
    ).toEqual([])
  })
})

test('a number that names things is the one that the pipeline gets, also where many are made at once', async () => {
  const numbered = await projects.make({
    workflow: { name: 'No. $CI_PIPELINE_IID' },
    one: { script: ['true'], environment: 'review/$CI_PIPELINE_IID' },
  })
  const made = await Promise.all(Array.from({ length: 5 }, () => numbered.run(world.root)))
  const names = await Promise.all(
    made.map(
      async ({ id }) =>
        ((await world.root.get(`/projects/${numbered.id}/pipelines/${id}`)).body as Json)['name'],
    ),
  )
  expect(names).toEqual(made.map(({ iid }) => `No. ${iid}`))
  const environments = (await world.root.get(`/projects/${numbered.id}/environments`)).body as Json[]
  expect(environments.map(({ name }) => name).sort()).toEqual(made.map(({ iid }) => `review/${iid}`).sort())
})

test('schedules, triggers and trigger jobs tell who they are', async () => {
  const chain = await projects.make({
    child: {
      trigger: { include: [{ local: 'child.yml' }] },
      rules: [{ if: '$CI_PIPELINE_SOURCE == "api"' }],
    },
    direct: {
      script: ['true'],
      rules: [
        { if: '$CI_PIPELINE_TRIGGERED == "true"' },
        { if: '$CI_PIPELINE_SCHEDULE_DESCRIPTION == "nightly $5"' },
      ],
    },
  })
  const of = await RawRunner.forProject(world, chain.project)
  await chain.push(
    { 'child.yml': 'inner: { script: [x], rules: [{ if: $CI_UPSTREAM_PIPELINE_ID }] }\n' },
    { options: ['ci.skip'] },
  )

  const parent = await chain.run(world.root)
  const inner = await until(
    () => of.ask(),
    ({ status }) => status === 201,
  )
  const variables = Object.fromEntries(
    ((inner.body as Json)['variables'] as Json[]).map(({ key, value }) => [key, value]),
  ) as Json
  const [bridge] = (await world.root.get(`/projects/${chain.id}/pipelines/${parent['id']}/bridges`))
    .body as Json[]
  expect(variables).toMatchObject({
    CI_PIPELINE_SOURCE: 'parent_pipeline',
    CI_UPSTREAM_PIPELINE_ID: String(parent['id']),
    CI_UPSTREAM_PROJECT_ID: String(chain.id),
    CI_UPSTREAM_JOB_ID: String(bridge!['id']),
  })

  const trigger = expectStatus(
    await world.root.post(`/projects/${chain.id}/triggers`, { description: 'x' }),
    201,
  )
  expectStatus(
    await world.root.post(`/projects/${chain.id}/trigger/pipeline`, {
      token: trigger['token'] as string,
      ref: 'main',
    }),
    201,
  )
  const triggered = await of.take()
  expect(triggered.variable('CI_PIPELINE_TRIGGERED')).toBe('true')
  expect(triggered.variable('CI_TRIGGER_SHORT_TOKEN')).toBe((trigger['token'] as string).slice(6, 10))
  expect(JSON.parse(triggered.variable('TRIGGER_PAYLOAD')!)).toMatchObject({ ref: 'main' })

  const schedule = { description: 'nightly $5', ref: 'main', cron: '0 1 * * *' }
  const { id } = expectStatus(
    await world.root.post(`/projects/${chain.id}/pipeline_schedules`, schedule),
    201,
  )
  expectStatus(await world.root.post(`/projects/${chain.id}/pipeline_schedules/${id}/play`), 201)
  const scheduled = await until(
    () => of.ask(),
    ({ status }) => status === 201,
  )
  expect((scheduled.body as Json)['variables']).toContainEqual(
    expect.objectContaining({ key: 'CI_PIPELINE_SCHEDULE_DESCRIPTION', value: 'nightly $5' }),
  )
})

test('whoever starts a job by hand is its user', async () => {
  const manual = await projects.make({ gate: { script: ['true'], when: 'manual' } })
  const of = await RawRunner.forProject(world, manual.project)
  const person = await world.user()
  expectStatus(
    await world.root.post(`/projects/${manual.id}/members`, { user_id: person.id, access_level: 40 }),
    201,
  )
  const pipeline = await manual.run(world.root)
  const [job] = (await world.root.get(`/projects/${manual.id}/pipelines/${pipeline['id']}/jobs`))
    .body as Json[]
  expectStatus(await person.post(`/projects/${manual.id}/jobs/${job!['id']}/play`), 200)
  const taken = await of.take()
  expect(taken.variable('CI_JOB_MANUAL')).toBe('true')
  expect(taken.variable('GITLAB_USER_ID')).toBe(String(person.id))
})
