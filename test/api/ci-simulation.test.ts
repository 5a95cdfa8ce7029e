import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, type CiProject } from '../runner/ci-project.ts'
import { bodyOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: CiProjects
let ci: CiProject
let developer: Person
let maintainer: Person

const configuration = `
variables:
  STAGE: free
  GREETING: hello $STAGE
workflow:
  rules:
    - if: $CI_COMMIT_BRANCH == "main"
      variables: { STAGE: main }
    - when: always
build:
  script: make
  rules:
    - if: $CI_PIPELINE_SOURCE == "schedule"
      when: never
    - changes: [src/**/*]
    - if: $FORCED
      when: manual
deploy:
  stage: deploy
  script: deploy
  needs: [{ job: build, optional: true }]
  variables: { STAGE: deploy, URL: 'https://$HOST/$TOKEN' }
  environment: $STAGE/eu
  rules:
    - if: $TOKEN =~ /^s3cret/ && $PLAIN == "yes"
      variables: { FROM_RULE: 'yes' }
    - when: never
legacy:
  script: x
  only: [tags]
`

beforeAll(async () => {
  world = await startWorld()
  projects = await CiProjects.open(world)
  ci = await projects.make(configuration)
  await ci.push({ 'src/a.ts': '1' }, { to: 'free', options: ['ci.skip'] })
  developer = await world.member({ project: ci.project }, 'developer')
  maintainer = await world.member({ project: ci.project }, 'maintainer')
  const variables = [
    { key: 'TOKEN', value: 's3cret-value', masked: true },
    { key: 'TOKEN', value: 'of-production', environment_scope: 'production' },
    { key: 'PLAIN', value: 'yes' },
    { key: 'PROTECTED', value: 'for main only', protected: true },
    { key: 'HIDDEN', value: 'never-shown-again', masked_and_hidden: true },
    { key: 'HOST', value: 'default.example.test' },
    { key: 'HOST', value: 'eu.example.test', environment_scope: '*/eu' },
  ]
  for (const variable of variables) {
    expectStatus(await world.root.post(`/projects/${ci.id}/variables`, variable), 201)
  }
})
afterAll(async () => {
  await projects[Symbol.asyncDispose]()
  await world[Symbol.asyncDispose]()
})

const simulate = async (by: Person, body: Json): Promise<Json> =>
  expectStatus(await by.post(`/projects/${ci.id}/ci/simulate`, body), 200)
const names = (list: unknown) => (list as Json[]).map(({ name }) => name)

describe('a pipeline that is simulated', () => {
  test('is told with its jobs, and those left out, each with its rules; nothing is stored', async () => {
    const pipelines = async () => bodyOf(await maintainer.get(`/projects/${ci.id}/pipelines`))
    const before = await pipelines()
    const answer = await simulate(maintainer, { ref: 'free', changed_files: ['src/a.ts', 'b'] })
    expect(answer).toMatchObject({
      valid: true,
      errors: [],
      pipeline: { ref: 'free', source: 'push', protected: false, stages: ['test', 'deploy'] },
      workflow: { rules: [{ matched: false }, { matched: true, clauses: [] }] },
    })
    expect(answer['jobs']).toMatchObject([
      {
        name: 'build',
        stage: 'test',
        when: 'on_success',
        reason: 'rule_matched',
        rule: 1,
        rules: [
          {
            matched: false,
            clauses: [
              {
                clause: 'if',
                expression: '$CI_PIPELINE_SOURCE == "schedule"',
                values: [{ key: 'CI_PIPELINE_SOURCE', value: 'push' }],
              },
            ],
          },
          {
            matched: true,
            clauses: [{ clause: 'changes', found: { pattern: 'src/**/*', path: 'src/a.ts' } }],
          },
          { matched: null, clauses: [] },
        ],
      },
      {
        name: 'deploy',
        needs: [{ name: 'build', artifacts: true, optional: true }],
        environment: 'deploy/eu',
        variables: [
          { key: 'STAGE', value: 'deploy' },
          { key: 'GREETING', value: 'hello $STAGE' },
          { key: 'URL', value: 'https://$HOST/$TOKEN' },
          { key: 'FROM_RULE', value: 'yes' },
        ],
      },
    ])
    expect(answer['left_out']).toMatchObject([
      {
        name: 'legacy',
        reason: 'only',
        only: [{ clause: 'refs', holds: false, refs: ['tags'], found: null }],
      },
    ])
    expect(await pipelines()).toEqual(before)
  })

  test('for another source, other variables and files', async () => {
    const scheduled = await simulate(maintainer, { ref: 'free', source: 'schedule' })
    expect(names(scheduled['jobs'])).toEqual(['deploy'])
    expect(scheduled['left_out']).toMatchObject([
      { name: 'build', reason: 'rule_never', rule: 0 },
      { name: 'legacy' },
    ])
    const forced = await simulate(maintainer, {
      ref: 'free',
      changed_files: [],
      variables: [{ key: 'FORCED', value: '1' }],
    })
    expect(forced['jobs']).toMatchObject([{ name: 'build', when: 'manual', rule: 2 }, {}])
    const main = await simulate(maintainer, { ref: 'main', source: 'merge_request_event' })
    expect(main['workflow']).toMatchObject({ rules: [{ matched: false }, { matched: true }] })
  })

  test('never shows a masked value, nor to a developer those of the project', async () => {
    const valuesFor = async (by: Person) => {
      const answer = await simulate(by, { ref: 'free' })
      expect(JSON.stringify(answer)).not.toContain('s3cret-value')
      const deploy = (answer['jobs'] as Json[]).find(({ name }) => name === 'deploy')!
      return (deploy['rules'] as { clauses: Json[] }[])[0]!.clauses[0]!['values']
    }
    const token = { key: 'TOKEN', value: null, defined: true, concealed: true }
    const plain = { key: 'PLAIN', value: 'yes', defined: true, concealed: false }
    expect(await valuesFor(maintainer)).toEqual([token, plain])
    expect(await valuesFor(developer)).toEqual([token, { ...plain, value: null, concealed: true }])
  })

  test('a masked value in a name is masked there', async () => {
    const content = 'a: {script: x, environment: { name: "to/$TOKEN" }}'
    const answer = await simulate(maintainer, { ref: 'free', content })
    expect(answer['jobs']).toMatchObject([{ environment: 'to/[MASKED]' }])
  })

  test('of which there would be none says why, also with errors', async () => {
    const filtered = await simulate(developer, {
      ref: 'free',
      content: 'a: {script: x, rules: [{if: $NOPE}]}',
    })
    expect(filtered).toMatchObject({
      valid: false,
      failure_reason: 'filtered_by_rules',
      pipeline: null,
      jobs: [],
      left_out: [{ name: 'a', reason: 'no_rule_matched', rules: [{ matched: false }] }],
    })
    const broken = await simulate(developer, { ref: 'free', content: 'a: {scirpt: x}' })
    expect(broken).toMatchObject({
      valid: false,
      failure_reason: 'config_error',
      errors: [
        'jobs a config should implement the script:, run:, or trigger: keyword (did you mean script?)',
      ],
    })
  })

  test('is refused where it would be', async () => {
    const path = `/projects/${ci.id}/ci/simulate`
    const refusal = async (by: Person, body: Json) => {
      const reply = await by.post(path, body)
      return [reply.status, reply.body]
    }
    expect(await refusal(maintainer, { ref: 'nope' })).toEqual([
      400,
      { message: { base: ['Reference not found'] } },
    ])
    const twice = [
      { key: 'A', value: '1' },
      { key: 'A', value: '2' },
    ]
    expect(await refusal(maintainer, { ref: 'free', variables: twice })).toEqual([
      400,
      { message: { base: ['Duplicate variable name: A'] } },
    ])
    const [status, body] = await refusal(developer, { ref: 'main' })
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain("run a pipeline on 'main'")
    expect((await maintainer.post(path, { ref: 'free', source: 'nowhere' })).status).toBe(400)
    expect((await maintainer.post(path, {})).status).toBe(400)
  })
})

describe('the variables of a job, explained', () => {
  const explain = async (by: Person, query: string): Promise<Map<string, Json>> => {
    const list = expectStatus(await by.get(`/projects/${ci.id}/variables/explain?${query}`), 200)
    return new Map((list as unknown as Json[]).map((one) => [one['key'] as string, one]))
  }

  test('by precedence, with what each hides', async () => {
    const found = await explain(maintainer, 'ref=main&job=deploy')
    expect(found.get('STAGE')).toMatchObject({
      value: 'deploy',
      source: 'job',
      hides: [
        { source: 'workflow_rule', value: 'main' },
        { source: 'global', value: 'free' },
      ],
    })
    expect(found.get('GREETING')).toMatchObject({ value: 'hello deploy', source: 'global', hides: [] })
    expect(found.get('FROM_RULE')).toMatchObject({ value: 'yes', source: 'rule' })
    expect(found.get('HOST')).toMatchObject({
      value: 'eu.example.test',
      source: 'project',
      environment_scope: '*/eu',
      hides: [{ source: 'project', environment_scope: '*', value: 'default.example.test' }],
    })
    expect(found.get('CI_JOB_STAGE')).toMatchObject({ value: 'deploy', source: 'predefined' })
    expect(found.get('CI_JOB_TOKEN')).toMatchObject({ value: null, known: false })
    expect(found.get('PROTECTED')).toMatchObject({ value: 'for main only', protected: true })
  })

  test('tells why a variable does not reach the job', async () => {
    const found = await explain(maintainer, 'ref=free&environment=staging')
    expect(found.get('PROTECTED')).toMatchObject({
      value: null,
      source: null,
      left_out: [{ source: 'project', value: 'for main only', reasons: ['protected'] }],
    })
    expect(found.get('TOKEN')).toMatchObject({
      value: 's3cret-value',
      masked: true,
      left_out: [{ environment_scope: 'production', reasons: ['environment_scope'] }],
    })
    const production = await explain(maintainer, 'ref=free&environment=production&key=TOKEN')
    expect([...production.values()]).toMatchObject([
      { value: 'of-production', hides: [{ environment_scope: '*', value: 's3cret-value' }], left_out: [] },
    ])
  })

  test('hidden values are told to nobody, others to those who may see them', async () => {
    const mine = await explain(maintainer, 'ref=free&job=deploy')
    expect(mine.get('HIDDEN')).toMatchObject({ value: null, hidden: true, concealed: true })
    expect(mine.get('URL')).toMatchObject({ value: 'https://eu.example.test/s3cret-value' })
    const theirs = await explain(developer, 'ref=free&job=deploy')
    expect(theirs.get('TOKEN')).toMatchObject({ value: null, concealed: true, left_out: [] })
    expect(theirs.get('URL')).toMatchObject({ value: 'https://$HOST/$TOKEN', concealed: false })
    expect(theirs.get('PROTECTED')).toBeUndefined()
    for (const secret of ['s3cret', 'of-production', 'never-shown', 'default.example', 'for main']) {
      expect(JSON.stringify([...theirs])).not.toContain(secret)
    }
  })

  test('of a job that is not in the pipeline too, and of none is 404', async () => {
    expect((await explain(maintainer, 'ref=free&job=legacy')).get('CI_JOB_NAME')).toMatchObject({
      value: 'legacy',
    })
    expect((await maintainer.get(`/projects/${ci.id}/variables/explain?ref=free&job=nope`)).status).toBe(404)
    expect((await maintainer.get(`/projects/${ci.id}/variables/explain?ref=nope`)).status).toBe(400)
    expect((await developer.get(`/projects/${ci.id}/variables/explain?ref=main`)).status).toBe(400)
  })
})

test('a variable of the key `explain` is read by its key', async () => {
  const ci = await projects.make({ one: { script: ['x'] } })
  const path = `/projects/${ci.id}/variables`
  expect((await world.root.get(`${path}/explain`)).body).toBeInstanceOf(Array)
  for (const [value, environment_scope] of [
    ['a', '*'],
    ['b', 'production'],
  ] as const) {
    expectStatus(await world.root.post(path, { key: 'explain', value, environment_scope }), 201)
  }
  expect((await world.root.get(`${path}/explain`)).status).toBe(409)
  expect((await world.root.get(`${path}/explain?filter[environment_scope]=production`)).body).toMatchObject({
    key: 'explain',
    value: 'b',
  })
  expect((await world.root.get(`${path}/explain?ref=main`)).body).toBeInstanceOf(Array)
  // To others it is what it is without that variable, here a refusal: they may run nothing on the default branch.
  const developer = await world.member({ project: ci.project }, 'developer')
  expect((await developer.get(`${path}/explain`)).status).toBe(400)
})
