// @module-tag long
import { afterAll, beforeAll, expect, test } from 'vitest'
import { rowsOf } from '../world/bodies.ts'
import type { Client } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { pushFiles } from '../world/push.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let place: MergeProject
beforeAll(async () => {
  world = await startWorld()
  place = await new MergeProjects(world).make()
})
afterAll(() => world[Symbol.asyncDispose]())

const events = async (path: string, by: Client = world.root): Promise<Json[]> => {
  const reply = await by.get(path)
  expectStatus(reply, 200)
  return rowsOf(reply)
}
/** The events once there are so many of them. */
const listed = (count: number, path: string, by?: Client): Promise<Json[]> =>
  eventually(async () => {
    const found = await events(path, by)
    return found.length >= count && found
  })
const namesOf = (found: readonly Json[]): unknown[] => found.map((one) => one['action_name'])

test('what is done in a project is listed, the newest first', async () => {
  const own = await new MergeProjects(world).make()
  const { developer, maintainer, base } = own
  const issue = expectStatus(await developer.post(`${base}/issues`, { title: 'Rain' }), 201)
  const single = `${base}/issues/${issue['iid'] as number}`
  const note = expectStatus(await maintainer.post(`${single}/notes`, { body: 'It rains' }), 201)
  expectStatus(await developer.put(single, { state_event: 'close' }), 200)
  expectStatus(await developer.put(single, { state_event: 'reopen' }), 200)
  const request = await own.request({ 'a.txt': 'a\n' }, { title: 'Umbrella' })
  expectStatus(await maintainer.post(`${own.one(request['iid'] as number)}/approve`), 201)
  expectStatus(await own.merge(request['iid'] as number), 200)
  const page = expectStatus(await maintainer.post(`${base}/wikis`, { title: 'Home', content: 'x' }), 201)

  // Project, three members, two pushes before, the branch, four of the issue, three of the request, its merge, the page.
  const found = await eventually(async () => {
    const all = await events(`${base}/events?per_page=100`)
    const names = namesOf(all)
    return names.includes('accepted') && all.some((one) => 'wiki_page' in one) && all.length >= 14 && all
  })
  const one = (name: string, type: string | null): Json =>
    found.find((each) => each['action_name'] === name && each['target_type'] === type)!
  const author = expectStatus(await world.root.get(`/users/${developer.id}`), 200)
  expect(one('opened', 'Issue')).toEqual({
    id: expect.any(Number),
    project_id: own.id,
    action_name: 'opened',
    target_id: issue['id'],
    target_iid: issue['iid'],
    target_type: 'Issue',
    author_id: developer.id,
    target_title: 'Rain',
    created_at: expect.stringMatching(/Z$/),
    author: expect.objectContaining({ id: developer.id, name: author['name'], web_url: author['web_url'] }),
    author_username: developer.username,
    imported: false,
    imported_from: 'none',
  })
  for (const [name, type, target] of [
    ['closed', 'Issue', issue],
    ['reopened', 'Issue', issue],
    ['opened', 'MergeRequest', request],
    ['approved', 'MergeRequest', request],
    ['accepted', 'MergeRequest', request],
  ] as const)
    expect(one(name, type)).toMatchObject({ target_id: target['id'], target_title: target['title'] })
  expect(one('created', 'Project')).toMatchObject({ author_id: world.root.id, target_id: own.id })
  expect(found.filter((each) => each['action_name'] === 'joined').map((each) => each['author_id'])).toEqual(
    expect.arrayContaining([developer.id, maintainer.id]),
  )
  expect(one('commented on', 'Note')).toMatchObject({
    target_id: note['id'],
    target_title: 'Rain',
    note: { id: note['id'], body: 'It rains', noteable_type: 'Issue', noteable_iid: issue['iid'] },
  })
  expect(one('created', 'WikiPage::Meta')).toMatchObject({
    wiki_page: { format: page['format'], slug: page['slug'], title: page['title'] },
  })
  const pushed = found.filter((each) => 'push_data' in each)
  expect(pushed.map((each) => [each['action_name'], (each['push_data'] as Json)['ref']])).toEqual(
    expect.arrayContaining([
      ['pushed new', 'main'],
      ['pushed new', request['source_branch']],
      ['pushed to', 'main'],
    ]),
  )
  const branch = pushed.find((each) => (each['push_data'] as Json)['ref'] === request['source_branch'])!
  expect(branch['push_data']).toEqual({
    commit_count: 1,
    action: 'created',
    ref_type: 'branch',
    commit_from: null,
    commit_to: request['sha'],
    ref: request['source_branch'],
    commit_title: 'Write a.txt',
    ref_count: null,
  })
  expect(found.map((each) => each['created_at'])).toEqual(
    found
      .map((each) => each['created_at'])
      .toSorted()
      .toReversed(),
  )

  const filtered = async (query: string) => namesOf(await events(`${base}/events?${query}`))
  expect(await filtered('action=closed&target_type=issue')).toEqual(['closed'])
  expect(await filtered('target_type=note')).toEqual(['commented on'])
  expect(await filtered('target_type=issue&sort=asc')).toEqual(['opened', 'closed', 'reopened'])
  const milestone = expectStatus(await maintainer.post(`${base}/milestones`, { title: 'Spring' }), 201)
  expectStatus(
    await maintainer.put(`${base}/milestones/${milestone['id'] as number}`, { state_event: 'close' }),
    200,
  )
  const planned = await listed(2, `${base}/events?target_type=milestone`)
  expect(planned).toMatchObject(
    ['closed', 'opened'].map((action_name) => ({
      action_name,
      target_id: milestone['id'],
      target_iid: milestone['iid'],
      target_title: 'Spring',
    })),
  )
  expect(await filtered('target_type=user')).toEqual([])
  const today = new Date().toISOString().slice(0, 10)
  expect(await filtered(`after=${today}`)).toEqual([])
  expect(await filtered(`before=${today}`)).toEqual([])
  expect(await filtered('after=2000-01-01&before=2999-01-01&action=merged')).toEqual(['accepted'])
  for (const query of ['action=x', 'target_type=epic', 'before=soon', 'after=2026-13-01', 'sort=up'])
    expectStatus(await world.root.get(`${base}/events?${query}`), 400)
})

test('everybody sees his own, that of his projects, and that of others as far as he sees the projects', async () => {
  const { developer, maintainer, base } = place
  const stranger = await world.user()
  const issue = expectStatus(await developer.post(`${base}/issues`, { title: 'Own' }), 201)
  const own = await listed(1, '/events?target_type=issue', developer)
  expect(own).toMatchObject([{ target_id: issue['id'] }])
  expect(await events('/events', stranger)).toEqual([])
  expect(await events('/events?target_type=issue', maintainer)).toEqual([])
  const all = await events('/events?scope=all&target_type=issue', maintainer)
  expect(all).toMatchObject([{ target_id: issue['id'] }])
  for (const name of [developer.id, developer.username.toUpperCase()]) {
    const seen = await events(`/users/${name}/events?target_type=issue`, maintainer)
    expect(seen).toMatchObject([{ target_id: issue['id'] }])
    expect(await events(`/users/${name}/events`, stranger)).toEqual([])
  }
  expectStatus(await stranger.get('/users/999999999/events'), 404)
  expectStatus(await stranger.get(`${base}/events`), 404)
})

test('who may not read a thing does not hear of it', async () => {
  const { developer, base } = place
  const guest = await world.member({ project: place.project }, 'guest')
  const secret = expectStatus(await developer.post(`${base}/issues`, { title: 'S', confidential: true }), 201)
  const open = expectStatus(await developer.post(`${base}/issues`, { title: 'O' }), 201)
  const notes = `${base}/issues/${open['iid'] as number}/notes`
  const said = expectStatus(await developer.post(notes, { body: 'among us', internal: true }), 201)
  const whispered = `${base}/issues/${secret['iid'] as number}/notes`
  const whisper = expectStatus(await developer.post(whispered, { body: 'hush' }), 201)
  await place.branch({ 'b.txt': 'b\n' })
  const path = `${base}/events?per_page=100`
  const idsOf = (found: readonly Json[]) =>
    found.map((one) => `${one['target_type'] as string} ${one['target_id'] as number}`)
  const things = {
    secret: `Issue ${secret['id'] as number}`,
    open: `Issue ${open['id'] as number}`,
    said: `Note ${said['id'] as number}`,
    whisper: `Note ${whisper['id'] as number}`,
  }
  await eventually(async () => {
    const ids = idsOf(await events(path))
    return Object.values(things).every((one) => ids.includes(one))
  })
  const seen = await events(path, guest)
  expect(idsOf(seen)).toContain(things.open)
  for (const one of [things.secret, things.said, things.whisper]) expect(idsOf(seen)).not.toContain(one)
  expect(seen.filter((one) => 'push_data' in one)).toEqual([])

  expectStatus(await developer.delete(`${notes}/${said['id'] as number}`), 204)
  expect(idsOf(await events(path))).not.toContain(things.said)
  expectStatus(await world.root.put(`/users/${developer.id}`, { private_profile: true }), 200)
  expect(await events(`/users/${developer.id}/events`, place.maintainer)).toEqual([])
  expect(await events(`/users/${developer.id}/events`, developer)).not.toEqual([])
  expectStatus(await world.root.put(`/users/${developer.id}`, { private_profile: false }), 200)
})

test('who leaves a project is said to have left it', async () => {
  const project = await world.project()
  const person = await world.member({ project }, 'developer')
  expectStatus(await person.delete(`/projects/${project.id}/members/${person.id}`), 204)
  expect(namesOf(await events(`/projects/${project.id}/events?target_type=project`))).toEqual([
    'left',
    'joined',
    'created',
  ])
})

test('a push of more refs than push_event_activities_limit is one event', async () => {
  const own = await new MergeProjects(world).make()
  const moved = (names: string[]) => pushFiles(world, own.project, { 'a.txt': names.join('\n') }, names)
  await moved(['x1', 'x2', 'x3', 'x4'])
  const bulk = await eventually(async () => {
    const [last] = await events(`${own.base}/events?action=pushed`)
    return (last!['push_data'] as Json)['ref_count'] === 4 && last
  })
  expect(bulk).toMatchObject({
    action_name: 'pushed new',
    push_data: { commit_count: 0, action: 'created', ref_type: 'branch', ref: null, commit_to: null },
  })
  expectStatus(await world.root.put('/application/settings', { push_event_activities_limit: 4 }), 200)
  await moved(['y1', 'y2', 'y3', 'y4'])
  await eventually(async () => {
    const refs = (await events(`${own.base}/events?action=pushed`)).map(
      (one) => (one['push_data'] as Json)['ref'],
    )
    return ['y1', 'y2', 'y3', 'y4'].every((name) => refs.includes(name))
  })
  expectStatus(await world.root.put('/application/settings', { push_event_activities_limit: 3 }), 200)
  await moved(['z1', 'z2', 'z3', 'z4'])
  await eventually(async () => {
    const counts = (await events(`${own.base}/events?action=pushed`)).map(
      (one) => (one['push_data'] as Json)['ref_count'],
    )
    return counts.filter((count) => count === 4).length === 2
  })
})
