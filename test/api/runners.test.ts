import { afterAll, beforeAll, expect, test } from 'vitest'
import { Client, type Person } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'
import { CiProjects } from '../runner/ci-project.ts'
import { RawRunner } from '../runner/raw-runner.ts'

/** Runners, as the people see them who look after them. */
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

interface Home {
  readonly group: Made
  readonly project: Made
  /** Of the project only. */
  readonly maintainer: Person
  /** Of the group. */
  readonly owner: Person
}

async function home(): Promise<Home> {
  const group = await world.group()
  const project = await world.project({ namespace_id: group.id })
  return {
    group,
    project,
    maintainer: await world.member({ project }, 'maintainer'),
    owner: await world.member({ group }, 'owner'),
  }
}

async function create(person: Person, fields: Json): Promise<Json> {
  return expectStatus(await person.post('/user/runners', fields), 201)
}

const ofProject = (project: Made, fields: Json = {}): Json => ({
  runner_type: 'project_type',
  project_id: project.id,
  ...fields,
})

async function ids(person: Person, path: string): Promise<number[]> {
  const reply = await person.get(path)
  expect(reply.status, reply.text).toBe(200)
  return (reply.body as Json[]).map(({ id }) => id as number)
}

test('who may create which runner', async () => {
  const { group, project, maintainer, owner } = await home()
  const forGroup = { runner_type: 'group_type', group_id: group.id }
  expect((await maintainer.post('/user/runners', ofProject(project))).status).toBe(201)
  expect((await owner.post('/user/runners', forGroup)).status).toBe(201)
  for (const body of [forGroup, { runner_type: 'instance_type' }]) {
    const refused = await maintainer.post('/user/runners', body)
    expect([refused.status, refused.text]).toEqual([
      body === forGroup ? 404 : 403,
      expect.stringContaining(body === forGroup ? '404' : '403 Forbidden - Insufficient permissions'),
    ])
  }
  expect((await owner.post('/user/runners', { runner_type: 'group_type' })).body).toEqual({
    error: 'group_id is missing',
  })
  expect((await owner.post('/user/runners', { runner_type: 'odd' })).body).toEqual({
    error: 'runner_type does not have a valid value',
  })
  const token = await world.token(owner.id, ['create_runner'])
  const limited = await world.anonymous.post('/user/runners', forGroup, { 'private-token': token })
  expect(limited.status).toBe(201)
  expect((await world.anonymous.get('/runners', { 'private-token': token })).status).toBe(403)
})

test('what a new runner is, to the letter', async () => {
  const { project, maintainer } = await home()
  const { id } = await create(
    maintainer,
    ofProject(project, { description: 'box', tag_list: ['b', 'a', 'b'] }),
  )
  const shown = expectStatus(await maintainer.get(`/runners/${id as number}`), 200)
  expect(shown).toMatchObject({
    id,
    description: 'box',
    active: true,
    paused: false,
    is_shared: false,
    runner_type: 'project_type',
    online: null,
    status: 'never_contacted',
    job_execution_status: 'idle',
    tag_list: ['b', 'a'],
    run_untagged: true,
    locked: false,
    maximum_timeout: null,
    access_level: 'not_protected',
    version: null,
    contacted_at: null,
    maintenance_note: null,
    projects: [{ id: project.id, path_with_namespace: project.path_with_namespace }],
    groups: [],
  })
  expect(JSON.stringify(shown)).not.toContain('glrt-')
})

test('a runner that was changed since is not deleted', async () => {
  const runner = await RawRunner.create(world, { runner_type: 'instance_type' })
  const before = { 'if-unmodified-since': new Date(Date.now() - 60_000).toUTCString() }
  const one = `/runners/${runner.id}`
  expect((await world.root.delete(one, undefined, before)).status).toBe(412)
  expect((await world.anonymous.delete('/runners', { token: runner.token }, before)).status).toBe(412)
  const now = { 'if-unmodified-since': new Date(Date.now() + 60_000).toUTCString() }
  expect((await world.anonymous.delete('/runners', { token: runner.token }, now)).status).toBe(204)
  expect((await world.root.get(one)).status).toBe(404)
})

test('the lists, each to whom it is due', async () => {
  const { group, project, maintainer, owner } = await home()
  const [mine, theirs, shared] = [
    await create(maintainer, ofProject(project)),
    await create(owner, { runner_type: 'group_type', group_id: group.id }),
    await create(world.root, { runner_type: 'instance_type' }),
  ].map(({ id }) => id as number) as [number, number, number]
  expect(await ids(maintainer, '/runners')).toEqual([mine])
  expect(await ids(owner, '/runners')).toEqual([theirs, mine])
  expect(await ids(maintainer, `/projects/${project.id}/runners`)).toEqual([shared, theirs, mine])
  expect(await ids(owner, `/groups/${group.id}/runners?type=group_type`)).toEqual([theirs])
  expect(await ids(world.root, '/runners/all?per_page=3')).toEqual([shared, theirs, mine])
  expect((await owner.get('/runners/all')).status).toBe(403)
  await world.root.put(`/projects/${project.id}`, { shared_runners_enabled: false })
  expect(await ids(maintainer, `/projects/${project.id}/runners`)).toEqual([theirs, mine])
  const stranger = await world.user()
  expect(await ids(stranger, '/runners')).toEqual([])
  expect((await stranger.get(`/runners/${mine}`)).body).toEqual({
    message: '403 Forbidden - No access granted',
  })
  expect((await stranger.get('/runners/999999')).status).toBe(404)
})

test('filters', async () => {
  const { project, maintainer } = await home()
  const plain = await RawRunner.create(world, ofProject(project), maintainer)
  const tagged = await RawRunner.create(world, ofProject(project, { tag_list: ['x', 'y'] }), maintainer)
  const paused = await RawRunner.create(world, ofProject(project, { paused: true }), maintainer)
  await plain.ask()
  const filtered = (query: string): Promise<number[]> => ids(maintainer, `/runners?${query}`)
  expect(await filtered('paused=true')).toEqual([paused.id])
  expect(await filtered('scope=active')).toEqual([tagged.id, plain.id])
  expect(await filtered('status=online')).toEqual([plain.id])
  expect(await filtered('status=never_contacted')).toEqual([paused.id, tagged.id])
  expect(await filtered('status=stale')).toEqual([])
  expect(await filtered('tag_list=y,x')).toEqual([tagged.id])
  expect(await filtered('tag_list[]=x&tag_list[]=z')).toEqual([])
  expect(await filtered('version_prefix=18.')).toEqual([plain.id])
  expect(await filtered('version_prefix=17')).toEqual([])
  expect(await filtered('type=group_type')).toEqual([])
  expect((await maintainer.get('/runners?status=odd')).body).toEqual({
    error: 'status does not have a valid value',
  })
})

test('a change, and what cannot be', async () => {
  const { project, maintainer } = await home()
  const { id } = await create(maintainer, ofProject(project))
  const put = (body: Json) => maintainer.put(`/runners/${id as number}`, body)
  const changes = {
    description: 'new',
    paused: true,
    tag_list: ['one'],
    run_untagged: false,
    locked: true,
    access_level: 'ref_protected',
    maximum_timeout: 600,
    maintenance_note: 'note',
  }
  expect((await put(changes)).body).toMatchObject({ ...changes, active: false })
  expect((await put({ active: true })).body).toMatchObject({ ...changes, active: true, paused: false })
  expect((await put({ tag_list: [] })).body).toEqual({
    message: { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] },
  })
  expect((await put({ maximum_timeout: 10 })).status).toBe(400)
  expect((await put({ maximum_timeout: null })).body).toMatchObject({ maximum_timeout: null })
  expect((await put({ access_level: 'odd' })).body).toEqual({
    error: 'access_level does not have a valid value',
  })
  expect((await put({ maintenance_note: 'x'.repeat(1025) })).status).toBe(400)
  expect((await maintainer.put(`/runners/${id as number}`, { paused: true, active: false })).status).toBe(400)
})

test('a project runner serves further projects, unless it is locked', async () => {
  const { project, maintainer } = await home()
  const second = await world.project()
  await world.root.post(`/projects/${second.id}/members`, { user_id: maintainer.id, access_level: 40 })
  const { id } = await create(maintainer, ofProject(project))
  const enable = (runner_id: unknown, person = maintainer) =>
    person.post(`/projects/${second.id}/runners`, { runner_id })
  const disable = (of: Made) => maintainer.delete(`/projects/${of.id}/runners/${id as number}`)
  expect((await disable(project)).status).toBe(403)
  await maintainer.put(`/runners/${id as number}`, { locked: true })
  expect((await enable(id)).body).toEqual({ message: '403 Forbidden - Runner is locked' })
  await maintainer.put(`/runners/${id as number}`, { locked: false })
  expect((await enable(id)).status).toBe(201)
  expect((await enable(id)).status).toBe(400)
  expect(await ids(maintainer, `/projects/${second.id}/runners?type=project_type`)).toEqual([id])
  expect((await maintainer.delete(`/runners/${id as number}`)).body).toEqual({
    message: '403 Forbidden - Runner associated with more than one project',
  })
  expect((await disable(second)).status).toBe(204)
  expect((await disable(second)).status).toBe(404)
  expect((await maintainer.delete(`/runners/${id as number}`)).status).toBe(204)
  expect((await maintainer.get(`/runners/${id as number}`)).status).toBe(404)
  expect((await enable(id)).status).toBe(404)

  const group = await create(world.root, {
    runner_type: 'group_type',
    group_id: second['namespace'].id as number,
  })
  expect((await enable(group['id'])).body).toEqual({ message: '403 Forbidden - Runner is a group runner' })
  const shared = await create(world.root, { runner_type: 'instance_type' })
  expect((await enable(shared['id'])).body).toEqual({ message: '403 Forbidden - No access granted' })
})

test('its jobs, and the programs that work as it', async () => {
  const ci = await projects.make({ one: { script: ['x'] }, two: { script: ['x'] } })
  const runner = await RawRunner.forProject(world, ci.project)
  await ci.run(world.root)
  const [first, second] = [await runner.take(), await runner.take()]
  await first.end('failed')
  expect((await world.root.get(`/runners/${runner.id}`)).body).toMatchObject({
    job_execution_status: 'active',
    online: true,
    status: 'online',
    version: '18.2.0',
    contacted_at: expect.any(String),
  })
  expect(await ids(world.root, `/runners/${runner.id}/jobs?order_by=id&sort=asc`)).toEqual([
    first.id,
    second.id,
  ])
  expect(await ids(world.root, `/runners/${runner.id}/jobs?status=running`)).toEqual([second.id])
  expect((await world.root.get(`/runners/${runner.id}/managers`)).body).toMatchObject([
    { system_id: 's_raw', version: '18.2.0', status: 'online' },
  ])
  await runner.ask({ system_id: 's_other' })
  expect(await ids(world.root, `/runners/${runner.id}/managers`)).toHaveLength(2)
  const gone = await world.anonymous.delete('/runners/managers', {
    token: runner.token,
    system_id: 's_other',
  })
  expect(gone.status).toBe(204)
  expect(await ids(world.root, `/runners/${runner.id}/managers`)).toHaveLength(1)
  expect((await world.anonymous.delete('/runners/managers', { token: runner.token })).body).toEqual({
    error: 'system_id is missing',
  })
})

test('its projects are named after all groups above them', async () => {
  const top = await world.group()
  const inner = await world.group({ parent_id: top.id })
  const project = await world.project({ namespace_id: inner.id })
  const { id } = await RawRunner.forProject(world, project)
  const name = `${top['name']} / ${inner['name']} / ${project['name']}`
  const named = [expect.objectContaining({ id: project.id, name_with_namespace: name })]
  expect((await world.root.get(`/runners/${id}`)).body).toMatchObject({ projects: named })
  expect((await world.root.get(`/runners/${id}/projects`)).body).toEqual(named)
})

test('its projects, as far as the caller looks after them; and no place that hands out jobs unasked', async () => {
  const [one, other] = [await world.project(), await world.project()]
  const made = await RawRunner.forProject(world, one)
  expectStatus(await world.root.post(`/projects/${other['id']}/runners`, { runner_id: made.id }), 201)
  const maintainer = await world.member({ project: one }, 'maintainer')
  const ids = async (by: Person) =>
    ((await by.get(`/runners/${made.id}/projects`)).body as Json[]).map(({ id }) => id)
  expect(await ids(world.root)).toEqual([one['id'], other['id']])
  expect(await ids(maintainer)).toEqual([one['id']])
  const discovery = await new Client(world.url).get('/runners/router/discovery', {
    'runner-token': made.token,
  })
  expect([discovery.status, discovery.body]).toEqual([501, { message: '501 Not Implemented' }])
})
