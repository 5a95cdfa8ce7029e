import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'
import { CiProjects, oneJob, until } from './ci-project.ts'
import { RawRunner } from './raw-runner.ts'

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

const running = (config?: Json): ReturnType<CiProjects['running']> => projects.running(config)

test('a job goes from the API to a runner, and its log and end come back', async () => {
  const { ci, job, pipeline } = await running()
  expect(pipeline).toMatchObject({ status: 'pending', source: 'api', ref: 'main', sha: ci.sha })
  expect((await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}`)).body.status).toBe('running')

  const said = await job.say('hello\n')
  expect(said.status).toBe(202)
  expect(said.headers.get('range')).toBe('0-6')
  expect(said.headers.get('job-status')).toBe('running')
  const ended = await job.end('success')
  expect(ended.text).toBe('"200"')

  expect((await world.root.get(`/projects/${ci.id}/jobs/${job.id}/trace`)).text).toBe('hello\n')
  expect((await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}`)).body).toMatchObject({
    status: 'success',
    detailed_status: { group: 'success' },
  })
})

test('the payload has what the stock runner reads', async () => {
  const { ci, job } = await running({
    variables: { GLOBAL: 'g', NESTED: 'with $GLOBAL' },
    'unit test': {
      image: 'alpine:3',
      before_script: ['echo before'],
      script: ['echo $NESTED'],
      after_script: ['echo after'],
      artifacts: { paths: ['out/'], expire_in: '1 week', reports: { junit: 'junit.xml' } },
      cache: { key: 'k', paths: ['vendor/'] },
      tags: [],
    },
  })
  const { payload } = job
  expect(payload).toMatchObject({
    id: job.id,
    allow_git_fetch: true,
    job_info: {
      ...{ name: 'unit test', stage: 'test', project_name: ci.project['path'] },
      project_jobs_running_on_instance_runners_count: '+Inf',
      instance_id: expect.stringMatching(/^[\w+/]{43}=$/) as unknown,
      instance_uuid: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/) as unknown,
    },
    git_info: {
      ref: 'main',
      sha: ci.sha,
      ref_type: 'branch',
      depth: 20,
      protected: true,
      before_sha: '0'.repeat(40),
      repo_object_format: 'sha1',
    },
    runner_info: { timeout: 3600 },
    steps: [
      { name: 'script', script: ['echo before', 'echo $NESTED'], when: 'on_success', allow_failure: false },
      { name: 'after_script', script: ['echo after'], when: 'always', allow_failure: true },
    ],
    image: { name: 'alpine:3', entrypoint: null, ports: [] },
    services: [],
    artifacts: [
      { paths: ['out/'], artifact_type: 'archive', artifact_format: 'zip', expire_in: '1 week' },
      {
        name: 'junit.xml',
        paths: ['junit.xml'],
        when: 'always',
        artifact_type: 'junit',
        artifact_format: 'gzip',
      },
    ],
    cache: [{ key: 'k-protected', paths: ['vendor/'], policy: 'pull-push', when: 'on_success' }],
    credentials: [
      { type: 'registry', url: new URL(world.url).host, username: 'gitlab-ci-token', password: job.token },
    ],
    dependencies: [],
    hooks: [],
  })
  expect((payload['artifacts'] as Json[]).map((artifact) => artifact['untracked'])).toEqual([
    false,
    undefined,
  ])
  expect(payload['git_info'].refspecs).toContain('+refs/heads/main:refs/remotes/origin/main')
  expect(payload['git_info'].repo_url).toBe(
    `http://gitlab-ci-token:${job.token}@${new URL(world.url).host}/${ci.project['path_with_namespace']}.git`,
  )
  expect(payload['features'].failure_reasons).toContain('script_failure')
  expect(job.variable('NESTED')).toBe('with g')
  expect(job.variable('CI_JOB_NAME')).toBe('unit test')
  expect(job.variable('CI_COMMIT_SHA')).toBe(ci.sha)
  expect(job.variable('CI_COMMIT_BRANCH')).toBe('main')
  expect(job.variable('CI_PIPELINE_SOURCE')).toBe('api')
  expect(job.variable('CI_API_V4_URL')).toBe(`${world.url}/api/v4`)
  expect(job.variable('GITLAB_USER_LOGIN')).toBe('root')
  const token = (payload['variables'] as Json[]).find(({ key }) => key === 'CI_JOB_TOKEN')
  expect(token).toMatchObject({ value: job.token, public: false, masked: true })
})

test('keys of caches, those to fall back on too, tell protected refs from others', async () => {
  const cache = { key: 'k', paths: ['x'], fallback_keys: ['main', '$OTHER'] }
  const ci = await projects.make({
    test: { script: ['x'], cache: [cache, { ...cache, unprotect: true }] },
  })
  const runner = await RawRunner.forProject(world, ci.project)
  const keys = async (ref: string): Promise<unknown> => {
    await ci.run(world.root, { ref })
    const { payload } = await runner.take()
    return (payload['cache'] as Json[]).map(({ key, fallback_keys: others }) => [key, others])
  }
  const open = ['k-non_protected', ['main-non_protected', '$OTHER-non_protected']]
  expect(await keys('main')).toEqual([['k-protected', ['main-protected', '$OTHER-protected']], open])

  await ci.push({ a: 'a' }, { to: 'fix', options: ['ci.skip'] })
  expect(await keys('fix')).toEqual([open, open])

  expectStatus(await world.root.put(`/projects/${ci.id}`, { ci_separated_caches: false }), 200)
  const same = ['k', ['main', '$OTHER']]
  expect(await keys('main')).toEqual([same, same])
})

test('variables of the project and the pipeline win over those of the file', async () => {
  const ci = await projects.make({ variables: { A: 'file', B: 'file', C: 'file' }, test: { script: ['x'] } })
  const variable = (body: Json) => world.root.post(`/projects/${ci.id}/variables`, body)
  await variable({ key: 'B', value: 'project' })
  await variable({ key: 'C', value: 'project' })
  await variable({ key: 'SECRET', value: 'masked-value', masked: true, raw: true })
  await variable({ key: 'FILE', value: 'content', variable_type: 'file' })
  await variable({ key: 'SCOPED', value: 'prod', environment_scope: 'production' })
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root, { variables: [{ key: 'C', value: 'pipeline' }] })
  const job = await runner.take()
  expect(['A', 'B', 'C', 'SCOPED'].map((key) => job.variable(key))).toEqual([
    'file',
    'project',
    'pipeline',
    undefined,
  ])
  const list = job.payload['variables'] as Json[]
  expect(list.find(({ key }) => key === 'SECRET')).toMatchObject({ masked: true, public: false, raw: true })
  expect(list.find(({ key }) => key === 'FILE')).toMatchObject({ file: true, value: 'content' })
})

test('a protected variable reaches jobs of protected refs only', async () => {
  const ci = await projects.make(oneJob)
  await world.root.post(`/projects/${ci.id}/variables`, { key: 'KEY', value: 'v', protected: true })
  await ci.push({ 'a.txt': 'a' }, { to: 'feature', options: ['ci.skip'] })
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  expect((await runner.take()).variable('KEY')).toBe('v')
  await ci.run(world.root, { ref: 'feature' })
  expect((await runner.take()).variable('KEY')).toBeUndefined()
})

test('without a job there is 204 and a value to send back, with which the next request is held', async () => {
  const ci = await projects.make(oneJob)
  const runner = await RawRunner.forProject(world, ci.project)
  const first = await runner.ask()
  expect(first.status).toBe(204)
  expect(runner.lastUpdate).toMatch(/\w{10,}/)

  const held = runner.ask()
  await new Promise((resolve) => setTimeout(resolve, 300))
  const begin = performance.now()
  await ci.run(world.root)
  const answer = await held
  expect(answer.status).toBe(201)
  expect(performance.now() - begin).toBeLessThan(20_000)
})

test('many held runners: each job goes to exactly one', async () => {
  const ci = await projects.make(
    Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`job ${n}`, { script: ['x'] }])),
  )
  const runner = await RawRunner.forProject(world, ci.project)
  await runner.ask()
  const held = Array.from({ length: 10 }, () => runner.ask())
  await new Promise((resolve) => setTimeout(resolve, 200))
  await ci.run(world.root)
  const ids = (await Promise.all(held)).map(({ status, body }) =>
    status === 201 ? (body.id as number) : status,
  )
  expect(new Set(ids).size).toBe(10)
})

test('a runner whose tags change while it waits asks anew', async () => {
  const ci = await projects.make({ tagged: { script: ['x'], tags: ['gpu'] } })
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  expect((await runner.ask()).status).toBe(204)
  const held = runner.ask()
  await new Promise((resolve) => setTimeout(resolve, 200))
  await world.root.put(`/runners/${runner.id}`, { tag_list: ['gpu'] })
  expect((await held).status).toBe(204)
  expect((await runner.take()).payload['job_info'].name).toBe('tagged')
})

test('who gets which job', async () => {
  const ci = await projects.make({ plain: { script: ['x'] }, tagged: { script: ['x'], tags: ['a', 'b'] } })
  const other = await RawRunner.forProject(world, (await projects.make(oneJob)).project)
  const tagged = await RawRunner.forProject(world, ci.project, { tag_list: 'a,b,c', run_untagged: false })
  const half = await RawRunner.forProject(world, ci.project, { tag_list: 'a', run_untagged: false })
  const instance = await RawRunner.create(world)
  const paused = await RawRunner.forProject(world, ci.project, { paused: true })
  const group = await RawRunner.create(world, {
    runner_type: 'group_type',
    group_id: ci.project['namespace'].id,
  })
  await ci.run(world.root)
  expect((await other.ask()).status).toBe(204)
  expect((await half.ask()).status).toBe(204)
  // Instance runners are switched off in the project.
  expect((await instance.ask()).status).toBe(204)
  expect((await paused.ask()).status).toBe(204)
  expect((await tagged.take()).payload['job_info'].name).toBe('tagged')
  expect((await group.take()).payload['job_info'].name).toBe('plain')
})

test('a runner for protected refs takes no other jobs', async () => {
  const ci = await projects.make(oneJob)
  await ci.push({ 'a.txt': 'a' }, { to: 'feature', options: ['ci.skip'] })
  const runner = await RawRunner.forProject(world, ci.project, { access_level: 'ref_protected' })
  await ci.run(world.root, { ref: 'feature' })
  expect((await runner.ask()).status).toBe(204)
  await ci.run(world.root)
  expect((await runner.take()).payload['git_info'].protected).toBe(true)
})

test('wrong tokens: 403, never 404', async () => {
  const { job } = await running()
  const nobody = new Client(world.url)
  expect((await nobody.post('/jobs/request', { token: 'glrt-wrong' })).status).toBe(403)
  expect((await nobody.post('/jobs/request', {})).body).toEqual({ error: 'token is missing' })
  expect((await nobody.put(`/jobs/${job.id}`, { token: 'wrong', state: 'success' })).status).toBe(403)
  expect((await nobody.put('/jobs/99999999', { token: job.token, state: 'success' })).status).toBe(403)
  expect((await nobody.put(`/jobs/${job.id}`, {})).status).toBe(403)
  expect((await nobody.post('/runners/verify', { token: 'wrong' })).body).toEqual({
    message: '403 Forbidden',
  })
})

test('a plain text along with a call of a runner is passed over', async () => {
  const { job, runner } = await running()
  const nobody = new Client(world.url, { 'content-type': 'text/plain' })
  const calls = [
    ['POST', `/runners/verify?token=${runner.token}`, 200],
    ['POST', `/jobs/request?token=${runner.token}`, 204],
    ['PUT', `/jobs/${job.id}?token=${job.token}&state=running`, 200],
    ['POST', `/jobs/${job.id}/artifacts/authorize?token=${job.token}`, 200],
    ['POST', '/runners?token=wrong', 403],
    ['POST', '/runners/reset_authentication_token?token=wrong', 403],
  ] as const
  for (const [method, path, status] of calls) {
    expect([path, (await nobody.request(method, path, 'a text')).status]).toEqual([path, status])
  }
})

test('a runner whose project is gone gets no jobs, and is told why', async () => {
  const ci = await projects.make(oneJob)
  const runner = await RawRunner.forProject(world, ci.project)
  const verify = () => new Client(world.url).post('/runners/verify', { token: runner.token })
  expect((await verify()).status).toBe(200)
  await world.end(ci)
  await world.settled()
  const orphaned = { status: 422, body: { message: '422 Unprocessable Entity - Runner is orphaned' } }
  expect(await runner.ask()).toMatchObject(orphaned)
  expect(await verify()).toMatchObject(orphaned)
})

test('a runner proves itself, gets a new token, and goes', async () => {
  const runner = await RawRunner.create(world)
  const nobody = new Client(world.url)
  expect((await nobody.post('/runners/verify', { token: runner.token })).body).toEqual({
    id: runner.id,
    token: runner.token,
    token_expires_at: null,
  })
  const verified = { token: runner.token, system_id: 's_1' }
  expect((await nobody.post('/runners/verify', verified)).status).toBe(200)
  const managers = (await world.root.get(`/runners/${runner.id}/managers`)).body as Json[]
  expect(managers).toMatchObject([{ system_id: 's_1', version: null, status: 'online' }])
  const renewed = await nobody.post('/runners/reset_authentication_token', { token: runner.token })
  expect(renewed.status).toBe(201)
  expect((await nobody.post('/runners/verify', { token: runner.token })).status).toBe(403)
  expect(
    (await nobody.delete('/runners/managers', { token: renewed.body.token, system_id: 'none' })).status,
  ).toBe(404)
  expect((await nobody.delete('/runners', { token: renewed.body.token })).status).toBe(204)
  expect((await nobody.post('/runners/verify', { token: renewed.body.token })).status).toBe(403)
})

test('the log takes a piece only where it ends', async () => {
  const { ci, job } = await running()
  expect((await job.patch('x', undefined)).body).toEqual({ error: '400 Missing header Content-Range' })
  await job.say('first ')
  const early = await job.patch('again', '0-4')
  expect(early.status).toBe(416)
  expect(early.headers.get('range')).toBe('0-6')
  expect((await job.patch('gap', '50-52')).status).toBe(416)
  expect((await job.patch('short', '6-20')).status).toBe(416)
  expect((await job.patch('second', '6-11')).status).toBe(202)
  expect((await world.root.get(`/projects/${ci.id}/jobs/${job.id}/trace`)).text).toBe('first second')
})

test('an end that tells of more log than is here is not taken', async () => {
  const { job } = await running()
  await job.say('half')
  expect((await job.put({ state: 'success', output: { bytesize: 10 } })).status).toBe(412)
  await job.say(' whole')
  expect((await job.put({ state: 'success', output: { bytesize: 10 } })).status).toBe(200)
})

test('after its end a job is not on a runner any more', async () => {
  const { job } = await running()
  await job.end('failed', { failure_reason: 'script_failure', exit_code: 1 })
  for (const reply of [await job.put({ state: 'running' }), await job.say('late')]) {
    expect(reply.status).toBe(403)
    expect(reply.body).toEqual({ message: '403 Forbidden - Job is not processing on runner' })
    expect(reply.headers.get('job-status')).toBe('failed')
  }
  expect((await new Client(world.url, { 'job-token': job.token }).get('/job')).status).toBe(401)
})

test('states and reasons', async () => {
  const { ci, job } = await running({ test: { script: ['x'], allow_failure: { exit_codes: [42] } } })
  expect((await job.put({ state: 'odd' })).text).toBe('"400"')
  const beat = await job.put({ state: 'running' })
  expect(beat.headers.get('job-status')).toBe('running')
  expect(beat.headers.get('x-gitlab-trace-update-interval')).toBe('60')
  await job.end('failed', { failure_reason: 'no_such_reason', exit_code: 42 })
  const shown = (await world.root.get(`/projects/${ci.id}/jobs/${job.id}`)).body
  expect(shown).toMatchObject({ status: 'failed', failure_reason: 'unknown_failure', allow_failure: true })
})

test('stages run one after the other, and a failure skips what follows', async () => {
  const { ci, runner, job, pipeline } = await running({
    stages: ['build', 'test', 'deploy'],
    build: { stage: 'build', script: ['x'] },
    test: { stage: 'test', script: ['x'] },
    deploy: { stage: 'deploy', script: ['x'] },
    'after failure': { stage: 'deploy', script: ['x'], when: 'on_failure' },
  })
  const statuses = async (): Promise<Record<string, string>> => {
    const jobs = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}/jobs`)).body as Json[]
    return Object.fromEntries(jobs.map(({ name, status }) => [name, status]))
  }
  expect(await statuses()).toEqual({
    build: 'running',
    test: 'created',
    deploy: 'created',
    'after failure': 'created',
  })
  expect((await runner.ask()).status).toBe(204)
  await job.end('success')
  await (await runner.take()).end('failed')
  expect(await statuses()).toMatchObject({ test: 'failed', deploy: 'skipped', 'after failure': 'pending' })
  await (await runner.take()).end('success')
  expect((await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}`)).body.status).toBe('failed')
})

test('the token of a running job reads its own project and pipeline', async () => {
  const { ci, job, pipeline } = await running()
  const caller = new Client(world.url, { 'job-token': job.token })
  expect((await caller.get('/job')).body).toMatchObject({
    id: job.id,
    status: 'running',
    pipeline: { id: pipeline['id'] },
  })
  expect((await caller.get(`/projects/${ci.id}/pipelines/${pipeline['id']}`)).status).toBe(200)
  expect((await caller.get(`/projects/${ci.id}/variables`)).status).toBe(401)
  const renamed = await caller.put(`/projects/${ci.id}/pipelines/${pipeline['id']}/metadata`, {
    name: 'Mine',
  })
  expect(renamed.body).toMatchObject({ name: 'Mine' })
  const other = await projects.make(oneJob)
  expect((await caller.get(`/projects/${other.id}/pipelines`)).status).toBe(404)
})

test('a canceled job: asked to stop where its runner can, told at once where not', async () => {
  const { ci, job } = await running()
  const canceling = await world.root.post(`/projects/${ci.id}/jobs/${job.id}/cancel`)
  expect(canceling.status).toBe(201)
  expect(canceling.body.status).toBe('canceling')
  expect((await job.say('x')).headers.get('job-status')).toBe('canceling')
  await job.end('success')
  expect((await world.root.get(`/projects/${ci.id}/jobs/${job.id}`)).body.status).toBe('canceled')

  const other = await projects.make(oneJob)
  const runner = await RawRunner.forProject(world, other.project)
  await other.run(world.root)
  const reply = await runner.ask({ info: { features: {} } })
  await world.root.post(`/projects/${other.id}/jobs/${reply.body.id}/cancel`)
  const told = await new Client(world.url).put(`/jobs/${reply.body.id}`, {
    token: reply.body.token,
    state: 'running',
  })
  expect(told.status).toBe(403)
  expect(told.headers.get('job-status')).toBe('canceled')
})

test('a job that fails is run again by itself as often as it asks for', async () => {
  const { ci, runner, job, pipeline } = await running({
    test: { script: ['x'], retry: { max: 1, when: ['runner_system_failure'] } },
  })
  await job.end('failed', { failure_reason: 'runner_system_failure' })
  const again = await runner.take()
  expect(again.id).not.toBe(job.id)
  await again.end('failed', { failure_reason: 'runner_system_failure' })
  expect((await runner.ask()).status).toBe(204)
  const jobs = `/projects/${ci.id}/pipelines/${pipeline['id']}/jobs`
  expect((await world.root.get(jobs)).body).toHaveLength(1)
  expect((await world.root.get(`${jobs}?include_retried=true`)).body).toHaveLength(2)
})

test('coverage is found in the log', async () => {
  const { ci, job, pipeline } = await running({ test: { script: ['x'], coverage: '/Total: \\d+\\.\\d+%/' } })
  await job.say('Total: 10.0%\nTotal: 84.55%\nbye\n')
  await job.end('success')
  expect((await world.root.get(`/projects/${ci.id}/jobs/${job.id}`)).body.coverage).toBe(84.55)
  expect((await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}`)).body.coverage).toBe('84.55')
})

test('a delayed job starts by itself, and a resource is held by one job at a time', async () => {
  const ci = await projects.make({
    later: { script: ['x'], when: 'delayed', start_in: '1 second' },
    one: { script: ['x'], resource_group: 'box' },
    two: { script: ['x'], resource_group: 'box' },
  })
  const runner = await RawRunner.forProject(world, ci.project)
  const pipeline = await ci.run(world.root)
  const ask = async (): Promise<Json[]> =>
    (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}/jobs`)).body as Json[]
  const status = (jobs: Json[], name: string): unknown => jobs.find((job) => job['name'] === name)?.['status']
  await until(ask, (jobs) => status(jobs, 'one') === 'pending')
  expect(status(await ask(), 'two')).toBe('waiting_for_resource')
  const first = await runner.take()
  expect(first.payload['job_info'].name).toBe('one')
  await first.end('success')
  await until(ask, (jobs) => status(jobs, 'two') === 'pending')
  await until(ask, (jobs) => status(jobs, 'later') === 'pending')
})

test('idle runners write nothing', async () => {
  const ci = await projects.make(oneJob)
  const runner = await RawRunner.forProject(world, ci.project)
  await runner.ask()
  const before = (await world.root.get(`/runners/${runner.id}/managers`)).body
  await new Promise((resolve) => setTimeout(resolve, 30))
  runner.lastUpdate = undefined
  await runner.ask()
  expect((await world.root.get(`/runners/${runner.id}/managers`)).body).toEqual(before)
  expect(before).toMatchObject([{ system_id: 's_raw', version: '18.2.0', status: 'online' }])
})
