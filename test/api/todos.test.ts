// @module-tag long
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import type { Person } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let project: Made
let ida: Person
let otto: Person
beforeAll(async () => {
  world = await startWorld()
  project = await world.project()
  ida = await world.member({ project }, 'developer')
  otto = await world.member({ project }, 'developer')
})
afterAll(() => world[Symbol.asyncDispose]())

const issueBy = async (by: Person, fields: Json = {}): Promise<Json> =>
  expectStatus(await by.post(`/projects/${project.id}/issues`, { title: 'Look at this', ...fields }), 201)
const at = (issue: Json): string => `/projects/${project.id}/issues/${issue['iid'] as number}`
const noteOn = async (by: Person, issue: Json, body: string, fields: Json = {}): Promise<Json> =>
  expectStatus(await by.post(`${at(issue)}/notes`, { body, ...fields }), 201)
const waiting = async (of: Person, query = ''): Promise<Json[]> => rowsOf(await of.get(`/todos${query}`))

/** The to-dos of somebody about a thing, once there are so many. */
const about = (of: Person, target: Json, count = 1): Promise<Json[]> =>
  eventually(async () => {
    const found = (await waiting(of)).filter((one) => (one['target'] as Json)['id'] === target['id'])
    return found.length === count && found
  })
const actionsOf = (found: readonly Json[]): unknown[] => found.map((one) => one['action_name']).toSorted()

describe('what makes them', () => {
  test('an assignment, with all that is known of it', async () => {
    const issue = await issueBy(ida, { assignee_ids: [otto.id] })
    const [todo] = await about(otto, issue)
    expect(Object.keys(todo!)).toEqual([
      'id',
      'project',
      'author',
      'action_name',
      'target_type',
      'target',
      'target_url',
      'body',
      'state',
      'created_at',
      'updated_at',
    ])
    expect(todo).toMatchObject({
      project: { id: project.id, path_with_namespace: project.path_with_namespace },
      author: { username: ida.username },
      action_name: 'assigned',
      target_type: 'Issue',
      target: { iid: issue['iid'], title: 'Look at this', created_at: issue['created_at'] },
      target_url: issue['web_url'],
      body: 'Look at this',
      state: 'pending',
    })
    // As its own endpoint shows it, but for what that tells of a single one alone.
    expect(Object.keys(todo!['target'] as Json)).toEqual(
      Object.keys(issue).filter((key) => key !== 'subscribed'),
    )
    // Once more assigned there is still one.
    expectStatus(await ida.put(at(issue), { assignee_ids: [ida.id] }), 200)
    expectStatus(await ida.put(at(issue), { assignee_ids: [otto.id] }), 200)
    await about(ida, issue)
    expect(await about(otto, issue)).toHaveLength(1)
  })

  test('mentions in texts and notes; at the beginning of a line somebody is addressed', async () => {
    const eve = await world.member({ project }, 'reporter')
    const issue = await issueBy(ida, { description: `see @${otto.username}` })
    expect(actionsOf(await about(otto, issue))).toEqual(['mentioned'])
    const note = await noteOn(ida, issue, `@${eve.username} ping, \`@${otto.username}\``)
    const [todo] = await about(eve, issue)
    expect(todo).toMatchObject({
      action_name: 'directly_addressed',
      body: note['body'],
      target_url: `${issue['web_url'] as string}#note_${note['id'] as number}`,
    })
    expect(await about(otto, issue)).toHaveLength(1)

    // An edit tells those who are new in it; a note that is deleted takes its to-dos along.
    const single = `${at(issue)}/notes/${note['id'] as number}`
    expectStatus(await ida.put(single, { body: `@${eve.username} and @${otto.username}` }), 200)
    await about(otto, issue, 2)
    expect(await about(eve, issue)).toHaveLength(1)
    expect((await ida.delete(single)).status).toBe(204)
    await about(otto, issue, 1)
    await about(eve, issue, 0)
  })

  test('groups and everybody; nobody is told by himself', async () => {
    const group = await world.group({ visibility: 'public' })
    const insider = await world.member({ group }, 'guest')
    expectStatus(
      await world.root.post(`/projects/${project.id}/members`, { user_id: insider.id, access_level: 20 }),
      201,
    )
    const issue = await issueBy(ida, { description: `@${group.path} and @${ida.username}` })
    await about(insider, issue)
    await noteOn(ida, issue, 'hear, @all')
    expect(actionsOf(await about(otto, issue))).toEqual(['mentioned'])
    await about(insider, issue, 2)
    await about(ida, issue, 0)
  })

  test('a group that wants no mentions tells nobody', async () => {
    const group = await world.group({ visibility: 'public' })
    expectStatus(await world.root.put(`/groups/${group.id}`, { mentions_disabled: true }), 200)
    const insider = await world.member({ group }, 'guest')
    expectStatus(
      await world.root.post(`/projects/${project.id}/members`, { user_id: insider.id, access_level: 20 }),
      201,
    )
    const issue = await issueBy(ida, { description: `@${group.path}` })
    await world.settled()
    await about(insider, issue, 0)
    expectStatus(await world.root.put(`/groups/${group.id}`, { mentions_disabled: false }), 200)
    await noteOn(ida, issue, `@${group.path} again`)
    await about(insider, issue)
  })

  test('epics', async () => {
    const group = await world.group()
    const [writer, reader] = [
      await world.member({ group }, 'reporter'),
      await world.member({ group }, 'guest'),
    ]
    const fields = { title: 'Big', description: `for @${reader.username}` }
    const epic = expectStatus(await writer.post(`/groups/${group.id}/epics`, fields), 201)
    const [todo] = await about(reader, epic)
    expect(todo).toMatchObject({ target_type: 'Epic', group: { id: group.id, full_path: group.full_path } })
    expect(todo).not.toHaveProperty('project')
    expect(await waiting(reader, `?group_id=${group.id}&type=Epic`)).toHaveLength(1)
  })
})

describe('only those who may read', () => {
  test('are told of confidential things, internal notes and private projects', async () => {
    const [guest, planner] = [
      await world.member({ project }, 'guest'),
      await world.member({ project }, 'planner'),
    ]
    const stranger = await world.user()
    const names = [guest, planner, stranger].map(({ username }) => `@${username}`).join(' ')
    const secret = await issueBy(ida, { confidential: true, description: names })
    await about(planner, secret)
    const open = await issueBy(ida, {})
    await noteOn(ida, open, names, { internal: true })
    await about(planner, open)
    const plain = await issueBy(ida, { description: names })
    await about(guest, plain)
    expect(await waiting(stranger)).toEqual([])
    expect(await waiting(guest)).toHaveLength(1)

    // What he may no longer read is gone from his list, and back with the right.
    expectStatus(await ida.put(at(plain), { confidential: true }), 200)
    expect(await waiting(guest)).toEqual([])
    const hidden = bodyOf(await guest.post('/todos/1/mark_as_done'))
    expect(hidden).toEqual({ message: '404 Not found' })
    expectStatus(await ida.put(at(plain), { confidential: false }), 200)
    expect(await waiting(guest)).toHaveLength(1)
  })
})

test('a request to be let in waits for who may decide upon it, until it is decided', async () => {
  const group = await world.group({ visibility: 'public' })
  const inner = await world.group({
    visibility: 'public',
    parent_id: (await world.group({ visibility: 'public' })).id,
  })
  const place = await world.project({ visibility: 'public', namespace_id: inner.id })
  const mia = await world.member({ project: place }, 'maintainer')
  const dora = await world.member({ project: place }, 'developer')
  const olga = await world.member({ group }, 'owner')
  const seeker = await world.user()
  const asking = `/projects/${place.id}/access_requests`
  const ask = async (where: string) => expectStatus(await seeker.post(`${where}/access_requests`), 201)

  await ask(`/projects/${place.id}`)
  const [todo] = await about(mia, place)
  expect(todo).toMatchObject({
    action_name: 'member_access_requested',
    target_type: 'Project',
    author: { id: seeker.id },
    project: { id: place.id, name_with_namespace: place['name_with_namespace'] },
    target: {
      path_with_namespace: place.path_with_namespace,
      name_with_namespace: place['name_with_namespace'],
    },
    body: place.path_with_namespace,
  })
  expect(todo!['target_url']).toMatch(/\/-\/project_members\?tab=access_requests$/)
  expect(await waiting(dora)).toEqual([])
  // Who may not decide any more is told no more of it.
  const membership = `/projects/${place.id}/members/${mia.id}`
  expectStatus(await world.root.put(membership, { access_level: 30 }), 200)
  expect(await waiting(mia)).toEqual([])
  expectStatus(await world.root.put(membership, { access_level: 40 }), 200)
  await about(mia, place)

  expect((await seeker.delete(`${asking}/${seeker.id}`)).status).toBe(204)
  await about(mia, place, 0)
  expect(await waiting(mia, '?state=done&action=member_access_requested')).toHaveLength(1)
  await ask(`/projects/${place.id}`)
  await about(mia, place)
  expectStatus(await mia.put(`${asking}/${seeker.id}/approve`), 201)
  await about(mia, place, 0)

  await ask(`/groups/${group.id}`)
  const [ofGroup] = await about(olga, group)
  expect(ofGroup).toMatchObject({ target_type: 'Namespace', group: { id: group.id }, body: group.full_path })
  expectStatus(
    await world.root.post(`/groups/${group.id}/members`, { user_id: seeker.id, access_level: 30 }),
    201,
  )
  await about(olga, group, 0)
})

test('who is lowered to Guest is told of confidential issues no more', async () => {
  const rita = await world.member({ project }, 'reporter')
  const secret = await issueBy(ida, { confidential: true, description: `@${rita.username}` })
  const [todo] = await about(rita, secret)
  await noteOn(ida, secret, `@${rita.username} psst`)
  await about(rita, secret, 2)
  const membership = `/projects/${project.id}/members/${rita.id}`
  expectStatus(await world.root.put(membership, { access_level: 10 }), 200)
  expect(await waiting(rita)).toEqual([])
  expect(await waiting(rita, '?state=done')).toEqual([])
  expect((await rita.post(`/todos/${todo!['id'] as number}/mark_as_done`)).status).toBe(404)
  const counts = bodyOf(await rita.get('/user_counts'))
  expect(counts['todos']).toBe(0)
})

describe('done', () => {
  test('is what was acted upon: commented on, reacted to, closed', async () => {
    const acts: ((issue: Json) => Promise<unknown>)[] = [
      (issue) => noteOn(otto, issue, 'yes'),
      (issue) => otto.post(`${at(issue)}/award_emoji`, { name: 'eyes' }),
      (issue) => otto.put(at(issue), { state_event: 'close' }),
    ]
    for (const act of acts) {
      const issue = await issueBy(ida, { assignee_ids: [otto.id] })
      const [todo] = await about(otto, issue)
      await act(issue)
      await about(otto, issue, 0)
      const done = await waiting(otto, '?state=done')
      expect(done[0]).toMatchObject({ id: todo!['id'], state: 'done' })
    }
  })

  test('is what its owner says is, one or all', async () => {
    const one = await issueBy(ida, { assignee_ids: [otto.id] })
    const other = await issueBy(ida, { assignee_ids: [otto.id] })
    const [todo] = await about(otto, one)
    await about(otto, other)
    const path = `/todos/${todo!['id'] as number}/mark_as_done`
    expect((await ida.post(path)).status).toBe(404)
    expect(expectStatus(await otto.post(path), 201)).toMatchObject({ id: todo!['id'], state: 'done' })
    await about(otto, one, 0)
    expect((await otto.post('/todos/mark_as_done')).status).toBe(204)
    expect(await waiting(otto)).toEqual([])
  })
})

test('marking makes one, once; it can be marked again when it is done', async () => {
  const issue = await issueBy(ida)
  const todo = expectStatus(await otto.post(`${at(issue)}/todo`), 201)
  expect(todo).toMatchObject({ action_name: 'marked', author: { username: otto.username }, state: 'pending' })
  expect((await otto.post(`${at(issue)}/todo`)).status).toBe(304)
  expectStatus(await otto.post(`/todos/${todo['id'] as number}/mark_as_done`), 201)
  expectStatus(await otto.post(`${at(issue)}/todo`), 201)
  expect((await otto.post(`/projects/${project.id}/issues/99999/todo`)).status).toBe(404)

  const group = await world.group({ visibility: 'public' })
  const epic = expectStatus(await world.root.post(`/groups/${group.id}/epics`, { title: 'E' }), 201)
  const marked = expectStatus(await otto.post(`/groups/${group.id}/epics/${epic['iid'] as number}/todo`), 201)
  expect(marked).toMatchObject({ target_type: 'Epic', target: { id: epic['id'] } })
})

test('the list is filtered and paged', async () => {
  const eve = await world.member({ project }, 'reporter')
  const first = await issueBy(ida, { assignee_ids: [eve.id] })
  const second = await issueBy(otto, { description: `for @${eve.username}` })
  await about(eve, first)
  await about(eve, second)
  const ids = async (query: string) => (await waiting(eve, query)).map((one) => (one['target'] as Json)['id'])
  expect(await ids('?action=assigned')).toEqual([first['id']])
  expect(await ids(`?author_id=${otto.id}`)).toEqual([second['id']])
  expect(await ids(`?project_id=${project.id}&type=Issue`)).toEqual([second['id'], first['id']])
  expect(await ids('?type=MergeRequest')).toEqual([])
  expect(await ids('?per_page=1&page=2')).toEqual([first['id']])
  expect((await eve.get('/todos?action=nothing')).status).toBe(400)
})

test('ten thousand mentions are one note, and tell only those who are there', async () => {
  const issue = await issueBy(ida)
  const crowd = Array.from({ length: 10_000 }, (_, index) => `@nobody-${index}`).join(' ')
  await noteOn(ida, issue, `${crowd} @${otto.username}`)
  await about(otto, issue)
})

describe('merge requests', () => {
  let place: MergeProject
  beforeAll(async () => {
    place = await new MergeProjects(world).make()
  })

  test('ask for review and approval, and tell of failed pipelines', async () => {
    const { developer, maintainer } = place
    const approver = await world.member({ project: place.project }, 'developer')
    expectStatus(
      await world.root.post(`${place.base}/approval_rules`, {
        name: 'Experts',
        approvals_required: 1,
        user_ids: [approver.id],
      }),
      201,
    )
    const request = await place.request(
      { 'a.txt': 'a' },
      { reviewer_ids: [maintainer.id], assignee_ids: [maintainer.id] },
    )
    expect(actionsOf(await about(maintainer, request, 2))).toEqual(['assigned', 'review_requested'])
    const [todo] = await about(approver, request)
    expect(todo).toMatchObject({
      action_name: 'approval_required',
      target_type: 'MergeRequest',
      target: { iid: request['iid'], source_branch: request['source_branch'] },
      target_url: request['web_url'],
    })
    const one = place.one(request['iid'] as number)
    expectStatus(await approver.post(`${one}/approve`), 201)
    await about(approver, request, 0)
    expectStatus(await approver.post(`${one}/todo`), 201)

    const sha = request['sha'] as string
    const status = (state: string) =>
      developer.post(`${place.base}/statuses/${sha}`, { state, ref: request['source_branch'] })
    expectStatus(await status('failed'), 201)
    expect(actionsOf(await about(developer, request))).toEqual(['build_failed'])
    expectStatus(await status('success'), 201)
    await about(developer, request, 0)
  })
})

test('the list goes on past what is counted', async () => {
  const many = await world.member({ project }, 'developer')
  const issue = await issueBy(ida, { assignee_ids: [many.id] })
  await about(many, issue)
  await sql`
    insert into todos (user_id, author_id, action, target_kind, target_id, project_id)
    select t.user_id, t.author_id, t.action, t.target_kind, t.target_id, t.project_id
    from todos t, generate_series(1, 10150) where t.user_id = ${many.id}`.execute(
    world.service.services.db.writer,
  )
  const next = async (number: number): Promise<unknown> => {
    const reply = await many.get(`/todos?per_page=100&page=${number}`)
    return [rowsOf(reply).length, reply.headers.get('x-total'), reply.headers.get('x-next-page')]
  }
  expect(await next(100)).toEqual([100, null, '101'])
  expect(await next(101)).toEqual([100, null, '102'])
  expect(await next(102)).toEqual([51, null, ''])
})
