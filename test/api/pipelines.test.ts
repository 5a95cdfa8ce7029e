import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CiProjects, until, type CiProject } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'
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

const oneJob = { test: { script: ['echo hello'] } }
const list = async (ci: CiProject, query = '', person: Person = world.root): Promise<Json[]> =>
  (await person.get(`/projects/${ci.id}/pipelines${query}`)).body as Json[]
const ids = (found: Json[]): number[] => found.map(({ id }) => id as number)

describe('creating', () => {
  test('answers the pipeline without its name', async () => {
    const ci = await projects.make({ workflow: { name: 'Build of $CI_COMMIT_BRANCH' }, ...oneJob })
    const pipeline = await ci.run(world.root)
    expect(Object.keys(pipeline)).toEqual([
      'id',
      'iid',
      'project_id',
      'sha',
      'ref',
      'status',
      'source',
      'created_at',
      'updated_at',
      'web_url',
      'before_sha',
      'tag',
      'yaml_errors',
      'user',
      'started_at',
      'finished_at',
      'committed_at',
      'duration',
      'queued_duration',
      'coverage',
      'archived',
      'detailed_status',
    ])
    expect(pipeline).toMatchObject({
      status: 'pending',
      source: 'api',
      sha: ci.sha,
      before_sha: '0'.repeat(40),
      tag: false,
      yaml_errors: null,
      user: { username: 'root' },
      detailed_status: { text: 'Pending', has_details: false, illustration: null },
      web_url: `${world.url}/${ci.project['path_with_namespace']}/-/pipelines/${pipeline['id']}`,
    })
    const shown = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}`)).body
    expect(shown).toEqual({ ...pipeline, name: 'Build of main' })
  })

  test.each([
    [{}, { error: 'ref is missing' }],
    [{ ref: '' }, { error: 'ref is empty' }],
    [{ ref: 'nowhere' }, { message: { base: ['Reference not found'] } }],
    [{ ref: 'main', variables: 'x' }, { error: 'variables is invalid' }],
    [{ ref: 'main', variables: [{ key: 'A' }] }, { error: 'variables[0][value] is missing' }],
    [
      { ref: 'main', variables: [{ key: 'A', value: '1', variable_type: 'odd' }] },
      { error: 'variables[0][variable_type] does not have a valid value' },
    ],
    [
      {
        ref: 'main',
        variables: [
          { key: 'A', value: '1' },
          { key: 'A', value: '2' },
        ],
      },
      { message: { base: ['Duplicate variable name: A'] } },
    ],
  ])('%j is refused', async (body, answer) => {
    const ci = await projects.make(oneJob)
    const reply = await world.root.post(`/projects/${ci.id}/pipeline`, body)
    expect([reply.status, reply.body]).toEqual([400, answer])
    expect(await list(ci, '?source=api')).toEqual([])
  })

  test.each([
    ['job:\n  stage: nowhere\n  script: x\n', /chosen stage nowhere does not exist/],
    ['job: {}\n', /jobs job config should implement/],
    ['workflow: {rules: [{when: never}]}\njob: {script: x}\n', /^The pipeline did not run\./],
    ['job: {script: x, rules: [{when: never}]}\n', /^The resulting pipeline would have been empty\./],
  ])('%j makes none', async (config, text) => {
    const ci = await projects.make(config)
    const reply = await world.root.post(`/projects/${ci.id}/pipeline`, { ref: 'main' })
    expect(reply.status).toBe(400)
    expect(reply.body.message.base[0]).toMatch(text)
  })

  test('needs a configuration, which may lie elsewhere', async () => {
    const ci = await projects.make(oneJob)
    await ci.push(
      { 'ci/main.yml': 'include: ci/more.yml\n', 'ci/more.yml': 'other: {script: [x]}\n' },
      { options: ['ci.skip'] },
    )
    await world.root.put(`/projects/${ci.id}`, { ci_config_path: 'ci/none.yml' })
    expect((await world.root.post(`/projects/${ci.id}/pipeline`, { ref: 'main' })).body).toEqual({
      message: { base: ['Missing CI config file'] },
    })
    await world.root.put(`/projects/${ci.id}`, { ci_config_path: 'ci/main.yml' })
    const pipeline = await ci.run(world.root)
    const jobs = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline['id']}/jobs`)).body as Json[]
    expect(jobs.map(({ name }) => name)).toEqual(['other'])
  })

  test('variables are kept, for those who may see them', async () => {
    const ci = await projects.make(oneJob)
    const developer = await world.member(ci, 'developer')
    const another = await world.member(ci, 'developer')
    await ci.push({ a: 'a' }, { to: 'feature', options: ['ci.skip'] })
    const variables = [
      { variable_type: 'env_var', key: 'A', value: '1', raw: false },
      { variable_type: 'file', key: 'B', value: 'text', raw: false },
    ]
    const pipeline = await ci.run(developer, { ref: 'feature', variables })
    const path = `/projects/${ci.id}/pipelines/${pipeline['id']}/variables`
    expect((await developer.get(path)).body).toEqual(variables)
    expect((await world.root.get(path)).body).toEqual(variables)
    expect((await another.get(path)).status).toBe(403)
  })

  test('who may not set variables is told so', async () => {
    const ci = await projects.make(oneJob)
    const developer = await world.member(ci, 'developer')
    await ci.push({ a: 'a' }, { to: 'feature', options: ['ci.skip'] })
    await world.root.put(`/projects/${ci.id}`, { ci_pipeline_variables_minimum_override_role: 'maintainer' })
    const set = (person: Person): Promise<Reply> =>
      person.post(`/projects/${ci.id}/pipeline`, { ref: 'feature', variables: [{ key: 'A', value: '1' }] })
    const refusal = { message: { base: ['Insufficient permissions to set pipeline variables'] } }
    expect((await set(developer)).body).toEqual(refusal)
    expect((await set(world.root)).status).toBe(201)
    await world.root.put(`/projects/${ci.id}`, {
      ci_pipeline_variables_minimum_override_role: 'no_one_allowed',
    })
    expect((await set(world.root)).body).toEqual(refusal)
    expect((await developer.post(`/projects/${ci.id}/pipeline`, { ref: 'feature' })).status).toBe(201)
  })

  test('who may cancel is for the project to say', async () => {
    const ci = await projects.make(oneJob)
    const developer = await world.member(ci, 'developer')
    const maintainer = await world.member(ci, 'maintainer')
    await ci.push({ a: 'a' }, { to: 'feature', options: ['ci.skip'] })
    const limit = (role: string): Promise<Reply> =>
      maintainer.put(`/projects/${ci.id}`, { ci_restrict_pipeline_cancellation_role: role })
    const cancels = async (person: Person): Promise<number[]> => {
      const pipeline = await ci.run(developer, { ref: 'feature' })
      const path = `/projects/${ci.id}/pipelines/${pipeline['id']}`
      const [job] = (await world.root.get(`${path}/jobs`)).body as Json[]
      return [
        (await person.post(`/projects/${ci.id}/jobs/${job!['id'] as number}/cancel`)).status,
        (await person.post(`${path}/cancel`)).status,
      ]
    }
    expect(await cancels(developer)).toEqual([201, 200])
    expect((await limit('maintainer')).body).toMatchObject({
      ci_restrict_pipeline_cancellation_role: 'maintainer',
    })
    expect(await cancels(developer)).toEqual([403, 403])
    expect(await cancels(maintainer)).toEqual([201, 200])
    await limit('no_one')
    expect(await cancels(maintainer)).toEqual([403, 403])
    expect(await cancels(world.root)).toEqual([403, 403])
    expect((await limit('guest')).body).toEqual({
      error: 'ci_restrict_pipeline_cancellation_role does not have a valid value',
    })
  })

  test('on a protected branch it takes the right to push or merge', async () => {
    const ci = await projects.make(oneJob)
    const developer = await world.member(ci, 'developer')
    const refused = await developer.post(`/projects/${ci.id}/pipeline`, { ref: 'main' })
    expect(refused.status).toBe(400)
    expect(refused.body.message.base[0]).toMatch(
      /^You do not have sufficient permission to run a pipeline on 'main'/,
    )
    const pipeline = await ci.run(world.root)
    const act = (path: string, method = 'POST', body?: Json) =>
      developer.request(method, `/projects/${ci.id}/pipelines/${pipeline['id']}/${path}`, body)
    expect((await act('retry')).status).toBe(403)
    expect((await act('cancel')).status).toBe(403)
    expect((await act('metadata', 'PUT', { name: 'x' })).status).toBe(403)
  })
})

describe('by pushes', () => {
  const pushed = (ci: CiProject): Promise<Json[]> =>
    until(
      () => list(ci, '?source=push'),
      (found) => found.some(({ status }) => status !== 'skipped'),
    )

  test('a push makes one, in which the commit and what it changed are known', async () => {
    const ci = await projects.make({
      always: { script: ['x'] },
      docs: { script: ['x'], rules: [{ changes: ['docs/**/*'] }] },
      code: { script: ['x'], rules: [{ changes: ['src/**/*'] }] },
    })
    const sha = await ci.push({ 'docs/a.md': 'text' })
    const [pipeline] = await pushed(ci)
    expect(pipeline).toMatchObject({ sha, ref: 'main', source: 'push' })
    const shown = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline!['id']}`)).body
    expect(shown.before_sha).toBe(ci.sha)
    const jobs = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline!['id']}/jobs`)).body as Json[]
    expect(jobs.map(({ name }) => name).sort()).toEqual(['always', 'docs'])
  })

  test('the message or an option may ask for none', async () => {
    const ci = await projects.make(oneJob)
    await ci.push({ a: 'a' }, { message: 'Add a [Skip-CI]' })
    await ci.push({ b: 'b' }, { options: ['ci.skip'] })
    const found = await until(
      () => list(ci),
      (all) => all.length === 3,
    )
    expect(found.map(({ status }) => status)).toEqual(['skipped', 'skipped', 'skipped'])
  })

  test('an option brings variables', async () => {
    const ci = await projects.make(oneJob)
    await ci.push({ a: 'a' }, { options: ['ci.variable=WHO=world'] })
    const [pipeline] = await pushed(ci)
    expect(
      (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline!['id']}/variables`)).body,
    ).toMatchObject([{ key: 'WHO', value: 'world' }])
  })

  test('a wrong configuration makes a failed one that says why', async () => {
    const ci = await projects.make(oneJob)
    await ci.push({ '.gitlab-ci.yml': 'job: {script: x, stage: nowhere}\n' })
    const [pipeline] = await pushed(ci)
    expect(pipeline).toMatchObject({ status: 'failed' })
    const shown = (await world.root.get(`/projects/${ci.id}/pipelines/${pipeline!['id']}`)).body
    expect(shown.yaml_errors).toMatch(/chosen stage nowhere does not exist/)
    expect(ids(await list(ci, '?yaml_errors=true'))).toEqual([pipeline!['id']])
    expect(ids(await list(ci, '?yaml_errors=false'))).not.toContain(pipeline!['id'])
  })

  test('a newer commit cancels what has not begun', async () => {
    const ci = await projects.make(oneJob)
    await ci.push({ a: 'a' })
    const [first] = await pushed(ci)
    await ci.push({ b: 'b' })
    await until(
      async () => (await world.root.get(`/projects/${ci.id}/pipelines/${first!['id']}`)).body as Json,
      ({ status }) => status === 'canceled',
    )
  })

  test('tags have theirs', async () => {
    const ci = await projects.make({ test: { script: ['x'], only: ['tags'] } })
    await ci.push({}, { to: 'refs/tags/v1' }).catch(() => ci.push({ a: 'a' }, { to: 'refs/tags/v1' }))
    const [pipeline] = await pushed(ci)
    expect(pipeline).toMatchObject({ ref: 'v1', source: 'push' })
    expect((await world.root.get(`/projects/${ci.id}/pipelines/${pipeline!['id']}`)).body.tag).toBe(true)
    expect(ids(await list(ci, '?scope=tags'))).toEqual([pipeline!['id']])
  })
})

describe('listing', () => {
  let ci: CiProject
  let developer: Person
  let made: Json[]
  beforeAll(async () => {
    ci = await projects.make({ workflow: { name: 'on $CI_COMMIT_BRANCH' }, ...oneJob })
    developer = await world.member(ci, 'developer')
    await ci.push({ a: 'a' }, { to: 'feature', options: ['ci.skip'] })
    await until(
      () => list(ci),
      (found) => found.length === 2,
    )
    made = [
      await ci.run(world.root),
      await ci.run(world.root),
      await ci.run(developer, { ref: 'feature' }),
      await ci.run(world.root),
    ]
    await world.root.post(`/projects/${ci.id}/pipelines/${made[0]!['id']}/cancel`)
  })
  const of = (...places: number[]): unknown[] => places.map((place) => made[place]!['id'])

  test.each([
    ['?source=api', [3, 2, 1, 0]],
    ['?source=api&sort=asc', [0, 1, 2, 3]],
    ['?status=canceled', [0]],
    ['?scope=finished', [0]],
    ['?scope=pending', [3, 2, 1]],
    ['?scope=running', []],
    ['?ref=feature&source=api', [2]],
    ['?name=on%20feature', [2]],
    ['?name=on', []],
    ['?username=nobody', []],
    ['?source=parent_pipeline', []],
    ['?source=api&order_by=updated_at', [0, 3, 2, 1]],
    ['?source=api&order_by=ref&sort=asc', [2, 0, 1, 3]],
    ['?source=api&order_by=user_id', [2, 3, 1, 0]],
    ['?source=api&per_page=2&page=2', [1, 0]],
    ['?scope=branches&ref=feature', [2]],
    ['?scope=branches', [3, 2]],
    ['?scope=tags', []],
    ['?updated_after=2100-01-01', []],
    ['?updated_before=2000-01-01', []],
    ['?updated_after=2000-01-01&source=api', [3, 2, 1, 0]],
  ] as const)('%s', async (query, places) => {
    expect(ids(await list(ci, query))).toEqual(of(...places))
  })

  test('by the name of a branch, those for its merge requests too', async () => {
    const fork = await projects.make({ job: { script: ['x'], rules: [{ if: '$CI_MERGE_REQUEST_IID' }] } })
    await fork.push({ b: 'b' }, { to: 'topic', options: ['ci.skip'] })
    await until(
      () => list(fork),
      (found) => found.length === 2,
    )
    const fields = { source_branch: 'topic', target_branch: 'main', title: 'Topic' }
    expectStatus(await world.root.post(`/projects/${fork.id}/merge_requests`, fields), 201)
    const found = await until(
      () => list(fork, '?ref=topic'),
      ({ length }) => length === 2,
    )
    expect(found.map(({ ref, source }) => [ref, source])).toEqual([
      ['refs/merge-requests/1/head', 'merge_request_event'],
      ['topic', 'push'],
    ])
    expect(ids(await list(fork, '?ref=topic&sort=asc'))).toEqual(ids(found).reverse())
    expect(ids(await list(fork, '?ref=topic&order_by=status&scope=pending'))).toEqual([found[0]!['id']])
    expect(ids(await list(fork, '?ref=topic&per_page=1&page=2'))).toEqual([found[1]!['id']])
    expect(ids(await list(fork, '?ref=topic&scope=finished&status=running'))).toEqual([])
  })

  test('by commit and by user', async () => {
    expect(ids(await list(ci, `?sha=${ci.sha}&source=api`))).toEqual(of(3, 1, 0))
    expect(ids(await list(ci, `?username=${developer.username}`))).toEqual(of(2))
    expect(await list(ci, `?sha=${ci.sha.slice(0, 8)}`)).toEqual([])
  })

  test.each([
    ['?scope=odd', 'scope does not have a valid value'],
    ['?status=odd', 'status does not have a valid value'],
    ['?order_by=name', 'order_by does not have a valid value'],
    ['?sort=up', 'sort does not have a valid value'],
    ['?updated_after=soon', 'updated_after is invalid'],
    ['?yaml_errors=maybe', 'yaml_errors is invalid'],
    ['?per_page=0', 'per_page has a value not allowed'],
    ['?source=odd', 'source does not have a valid value'],
  ])('%s is refused', async (query, error) => {
    const reply = await world.root.get(`/projects/${ci.id}/pipelines${query}`)
    expect([reply.status, reply.body]).toEqual([400, { error }])
  })

  test('items are summaries, totals are told', async () => {
    const reply = await world.root.get(`/projects/${ci.id}/pipelines?per_page=2`)
    expect(Object.keys(reply.body[0])).toEqual([
      'id',
      'iid',
      'project_id',
      'sha',
      'ref',
      'status',
      'source',
      'created_at',
      'updated_at',
      'web_url',
      'name',
    ])
    expect(reply.headers.get('x-total')).toBe('6')
    expect(reply.headers.get('x-next-page')).toBe('2')
  })

  test('the latest of a ref is that of its newest commit', async () => {
    expect((await world.root.get(`/projects/${ci.id}/pipelines/latest`)).body.id).toBe(made[3]!['id'])
    expect((await world.root.get(`/projects/${ci.id}/pipelines/latest?ref=feature`)).body.id).toBe(
      made[2]!['id'],
    )
    const none = await world.root.get(`/projects/${ci.id}/pipelines/latest?ref=nowhere`)
    expect([none.status, none.body]).toEqual([403, { message: '403 Forbidden' }])
  })

  test('the latest of no name is that of the default branch; of a branch and a tag of one name, of the branch', async () => {
    expect((await world.root.get(`/projects/${ci.id}/pipelines/latest?ref=`)).body.id).toBe(made[3]!['id'])
    const tag = { tag_name: 'feature', ref: 'main' }
    expectStatus(await world.root.post(`/projects/${ci.id}/repository/tags`, tag), 201)
    expect((await world.root.get(`/projects/${ci.id}/pipelines/latest?ref=feature`)).body.id).toBe(
      made[2]!['id'],
    )
  })
})

describe('acting', () => {
  test('cancel, and once more', async () => {
    const ci = await projects.make({ a: { script: ['x'] }, b: { script: ['x'], when: 'manual' } })
    const pipeline = await ci.run(world.root)
    const cancel = () => world.root.post(`/projects/${ci.id}/pipelines/${pipeline['id']}/cancel`)
    const first = await cancel()
    expect([first.status, first.body.status]).toEqual([200, 'canceled'])
    expect(first.body.name).toBeUndefined()
    expect((await cancel()).status).toBe(200)
  })

  test('retry runs failed jobs again and what was skipped after them', async () => {
    const ci = await projects.make({
      stages: ['test', 'deploy'],
      good: { script: ['x'], stage: 'test' },
      bad: { script: ['x'], stage: 'test' },
      deploy: { script: ['x'], stage: 'deploy' },
    })
    const runner = await RawRunner.forProject(world, ci.project)
    const pipeline = await ci.run(world.root)
    const path = `/projects/${ci.id}/pipelines/${pipeline['id']}`
    for (let n = 0; n < 2; n += 1) {
      const job = await runner.take()
      await job.end(job.payload['job_info'].name === 'bad' ? 'failed' : 'success')
    }
    expect((await world.root.get(path)).body).toMatchObject({ status: 'failed' })
    const retried = await world.root.post(`${path}/retry`)
    expect([retried.status, retried.body.status, retried.body.finished_at]).toEqual([201, 'running', null])
    expect((await world.root.post(`${path}/retry`)).status).toBe(201)
    const again = await runner.take()
    expect(again.payload['job_info'].name).toBe('bad')
    await again.end('success')
    expect((await runner.take()).payload['job_info'].name).toBe('deploy')
  })

  test('retry starts nothing that still waited for somebody, or for its time', async () => {
    const ci = await projects.make({
      stages: ['build', 'deploy'],
      build: { script: ['x'], stage: 'build' },
      played: { script: ['x'], stage: 'deploy', when: 'manual' },
      waiting: { script: ['x'], stage: 'deploy', when: 'manual' },
      later: { script: ['x'], stage: 'deploy', when: 'delayed', start_in: '1 hour' },
    })
    const runner = await RawRunner.forProject(world, ci.project)
    const pipeline = await ci.run(world.root)
    const path = `/projects/${ci.id}/pipelines/${pipeline['id']}`
    const jobs = async () => (await world.root.get(`${path}/jobs`)).body as Json[]
    await (await runner.take()).end('success')
    const played = (await jobs()).find(({ name }) => name === 'played')!
    expectStatus(await world.root.post(`/projects/${ci.id}/jobs/${played['id'] as number}/play`), 200)
    expectStatus(await world.root.post(`${path}/cancel`), 200)
    expectStatus(await world.root.post(`${path}/retry`), 201)
    const statuses = Object.fromEntries((await jobs()).map(({ name, status }) => [name, status]))
    expect(statuses).toMatchObject({ played: 'pending', waiting: 'manual', later: 'scheduled' })
  })

  test('names', async () => {
    const ci = await projects.make(oneJob)
    const pipeline = await ci.run(world.root)
    const put = (body: Json) =>
      world.root.put(`/projects/${ci.id}/pipelines/${pipeline['id']}/metadata`, body)
    expect((await put({})).body).toEqual({ error: 'name is missing' })
    expect((await put({ name: '  ' })).body).toEqual({
      message: 'Failed to update pipeline - Name is too short (minimum is 1 character)',
    })
    expect((await put({ name: 'x'.repeat(256) })).body).toEqual({
      message: 'Failed to update pipeline - Name is too long (maximum is 255 characters)',
    })
    expect((await put({ name: '😀'.repeat(255) })).body).toMatchObject({ name: '😀'.repeat(255) })
    expect((await put({ name: ' Nightly ' })).body).toMatchObject({ id: pipeline['id'], name: 'Nightly' })
  })

  test('delete, for owners, and only what has not changed since', async () => {
    const ci = await projects.make(oneJob)
    const pipeline = await ci.run(world.root)
    const path = `/projects/${ci.id}/pipelines/${pipeline['id']}`
    const maintainer = await world.member(ci, 'maintainer')
    const owner = await world.member(ci, 'owner')
    expect((await maintainer.delete(path)).status).toBe(403)
    const old = { 'if-unmodified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' }
    expect((await owner.delete(path, undefined, old)).status).toBe(412)
    expect((await owner.delete(path)).status).toBe(204)
    expect((await owner.delete(path)).body).toEqual({ message: '404 Not found' })
    expect((await owner.get(`/projects/${ci.id}/jobs`)).body).toEqual([])
    expect((await list(ci)).length).toBe(1)
  })

  test('a pipeline of another project is unknown', async () => {
    const ci = await projects.make(oneJob)
    const other = await projects.make(oneJob)
    const pipeline = await ci.run(world.root)
    const reply = await world.root.get(`/projects/${other.id}/pipelines/${pipeline['id']}`)
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Not found' }])
    expect((await world.root.get(`/projects/${ci.id}/pipelines/odd`)).body).toEqual({
      error: 'pipeline_id is invalid',
    })
    expect((await world.root.get(`/projects/${ci.id}/pipelines/odd/jobs`)).status).toBe(400)
    expect((await world.root.get(`/projects/${ci.id}/pipelines/999999/jobs`)).status).toBe(404)
  })

  test('trigger jobs are bridges', async () => {
    const ci = await projects.make({ down: { trigger: 'group/project' }, test: { script: ['x'] } })
    const pipeline = await ci.run(world.root)
    const path = `/projects/${ci.id}/pipelines/${pipeline['id']}`
    const bridges = await until(
      async () => (await world.root.get(`${path}/bridges`)).body as Json[],
      (found) => found[0]?.['status'] === 'failed',
    )
    expect(bridges).toMatchObject([
      { name: 'down', failure_reason: 'downstream_bridge_project_not_found', downstream_pipeline: null },
    ])
    expect(((await world.root.get(`${path}/jobs`)).body as Json[]).map(({ name }) => name)).toEqual(['test'])
  })
})
