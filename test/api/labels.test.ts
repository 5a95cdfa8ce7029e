import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let project: Made
let reporter: Person
let path: string
let groupPath: string

beforeAll(async () => {
  world = await startWorld()
  group = await world.group()
  project = await world.project({ namespace_id: group.id })
  reporter = await world.member({ group }, 'reporter')
  path = `/projects/${project.id}/labels`
  groupPath = `/groups/${group.id}/labels`
})
afterAll(() => world[Symbol.asyncDispose]())

const answer = ({ status, body }: Reply): unknown[] => [status, body]
const names = ({ body }: Reply): string[] => (body as { name: string }[]).map(({ name }) => name)

test('a label is made, shown, changed and removed', async () => {
  const made = await reporter.post(path, { name: ' first ', color: 'navy', description: '<b>', priority: 3 })
  const label = {
    id: expect.any(Number) as number,
    name: 'first',
    description: '<b>',
    description_html: '&lt;b&gt;',
    text_color: '#FFFFFF',
    color: '#000080',
    subscribed: false,
    priority: 3,
    is_project_label: true,
  }
  expect(answer(made)).toEqual([201, label])
  expect(answer(await reporter.get(`${path}/first`))).toEqual([200, label])
  const change = { new_name: 'second', color: '#abc', priority: null, description: null }
  const changed = await reporter.put(`${path}/${(made.body as { id: number }).id}`, change)
  expect(answer(changed)).toEqual([
    200,
    {
      ...label,
      name: 'second',
      color: '#aabbcc',
      text_color: '#1F1E24',
      description: null,
      description_html: '',
      priority: null,
    },
  ])
  expect(answer(await reporter.get(`${path}/first`))).toEqual([404, { message: '404 Label Not Found' }])
  expect((await reporter.delete(`${path}/second`)).status).toBe(204)
  expect(answer(await reporter.delete(`${path}/second`))).toEqual([404, { message: '404 Label Not Found' }])
  expect((await reporter.delete(path, { name: 'second' })).status).toBe(404)
  expect((await reporter.delete(path)).status).toBe(400)
  expectStatus(await reporter.post(path, { name: 'by name', color: '#111111' }), 201)
  expect((await reporter.delete(path, { name: 'by name' })).status).toBe(204)
})

test('a label of a group is known in its projects', async () => {
  expectStatus(await reporter.post(groupPath, { name: 'everywhere', color: '#111111' }), 201)
  expectStatus(await reporter.post(path, { name: 'here', color: '#111111' }), 201)
  expect(names(await reporter.get(path))).toEqual(['everywhere', 'here'])
  expect(names(await reporter.get(`${path}?include_ancestor_groups=false`))).toEqual(['here'])
  expect(names(await reporter.get(`${path}?search=VERY`))).toEqual(['everywhere'])
  expect(names(await reporter.get(groupPath))).toEqual(['everywhere'])
  expect(names(await reporter.get(`${groupPath}?only_group_labels=false`))).toEqual(['everywhere', 'here'])
  expect((await reporter.get(`${groupPath}?with_counts=true`)).body).toMatchObject([
    { open_issues_count: 0, closed_issues_count: 0, open_merge_requests_count: 0 },
  ])
  expect((await reporter.get(`${path}/everywhere`)).body).toMatchObject({ is_project_label: false })
  expect((await reporter.get(`${groupPath}/everywhere`)).body).not.toHaveProperty('priority')
  expect(answer(await reporter.post(path, { name: 'everywhere', color: '#111111' }))).toEqual([
    409,
    { message: 'Label already exists' },
  ])
})

test.each([
  [{ color: '#111111' }, { error: 'name is missing' }],
  [{ name: 'x' }, { error: 'color is missing' }],
  [{ name: 'a,b', color: '#111111' }, { message: { title: ['is invalid'] } }],
  [
    { name: ' ', color: 'blank' },
    { message: { title: ["can't be blank"], color: ['must be a valid color code'] } },
  ],
  [
    { name: 'x'.repeat(256), color: 'red' },
    { message: { title: ['is too long (maximum is 255 characters)'] } },
  ],
  [{ name: 'x', color: 'red', priority: -1 }, { error: 'priority does not have a valid value' }],
  [{ name: 'x', color: 'red', priority: 2 ** 40 }, { error: 'priority does not have a valid value' }],
])('a label of %j is refused', async (body, refusal) =>
  expect(answer(await reporter.post(path, body))).toEqual([400, refusal]),
)

test('a change needs something to change, and takes no name that is taken', async () => {
  expectStatus(await reporter.post(path, { name: 'one', color: '#111111' }), 201)
  expectStatus(await reporter.post(path, { name: 'two', color: '#111111' }), 201)
  expect(answer(await reporter.put(`${path}/one`, {}))).toEqual([
    400,
    { error: 'new_name, color, description, priority are missing, at least one parameter must be provided' },
  ])
  expect(answer(await reporter.put(`${path}/one`, { new_name: 'two' }))).toEqual([
    409,
    { message: 'Label already exists' },
  ])
  expect((await reporter.put(path, { name: 'one', new_name: 'three' })).body).toMatchObject({ name: 'three' })
})

test('somebody subscribes once', async () => {
  expectStatus(await reporter.post(path, { name: 'news', color: '#111111' }), 201)
  const calls: number[] = []
  for (const verb of ['subscribe', 'subscribe', 'unsubscribe', 'unsubscribe'] as const) {
    calls.push((await reporter.post(`${path}/news/${verb}`)).status)
  }
  expect(calls).toEqual([201, 304, 201, 304])
})

test('a promoted label takes those of the same name along', async () => {
  const other = await world.project({ namespace_id: group.id })
  for (const { id } of [project, other]) {
    expectStatus(await reporter.post(`/projects/${id}/labels`, { name: 'up', color: '#222222' }), 201)
  }
  const promoted = await reporter.put(`${path}/up/promote`)
  expect(answer(promoted)).toMatchObject([200, { name: 'up', color: '#222222' }])
  for (const { id } of [project, other]) {
    const { body } = await reporter.get(`/projects/${id}/labels/up`)
    expect(body).toMatchObject({ id: (promoted.body as { id: number }).id, is_project_label: false })
  }
})

describe('milestones', () => {
  const milestones = () => `/projects/${project.id}/milestones`

  test('are made, shown, closed and removed', async () => {
    const made = await reporter.post(milestones(), {
      title: 'v1',
      due_date: '2020-02-03',
      start_date: '2020-02-01',
    })
    const { id, iid } = made.body as { id: number; iid: number }
    const milestone = {
      id,
      iid: 1,
      project_id: project.id,
      title: 'v1',
      description: null,
      state: 'active',
      created_at: expect.any(String) as string,
      updated_at: expect.any(String) as string,
      due_date: '2020-02-03',
      start_date: '2020-02-01',
      expired: true,
      web_url: `${world.url}/${project.path_with_namespace}/-/milestones/${iid}`,
    }
    expect(answer(made)).toEqual([201, milestone])
    expect(answer(await reporter.get(`${milestones()}/${id}`))).toEqual([200, milestone])
    const closed = await reporter.put(`${milestones()}/${id}`, { state_event: 'close', due_date: '' })
    expect(closed.body).toMatchObject({ state: 'closed', due_date: null, expired: false })
    expect((await reporter.get(`${milestones()}?state=active`)).body).toEqual([])
    expect((await reporter.get(`${milestones()}?state=closed&title=v1`)).body).toHaveLength(1)
    expect((await reporter.delete(`${milestones()}/${id}`)).status).toBe(204)
    expect(answer(await reporter.get(`${milestones()}/${id}`))).toEqual([404, { message: '404 Not found' }])
  })

  test('have titles of their own in the whole tree, and dates in order', async () => {
    const ofGroup = `/groups/${group.id}/milestones`
    expectStatus(await reporter.post(ofGroup, { title: 'shared' }), 201)
    expect(answer(await reporter.post(milestones(), { title: 'shared' }))).toEqual([
      400,
      {
        message:
          'Failed to create milestone {:title=>["already being used for another group or project milestone."]}',
      },
    ])
    expectStatus(await reporter.post(milestones(), { title: 'own' }), 201)
    expect((await reporter.post(ofGroup, { title: 'own' })).status).toBe(400)
    const backwards = { title: 'x', start_date: '2020-01-02', due_date: '2020-01-01' }
    expect(answer(await reporter.post(milestones(), backwards))).toEqual([
      400,
      { message: 'Failed to create milestone {:due_date=>["must be greater than start date"]}' },
    ])
    const titles = async (query: string) =>
      ((await reporter.get(`${milestones()}${query}`)).body as { title: string }[]).map(({ title }) => title)
    expect(await titles('')).toEqual(['own'])
    expect(await titles('?include_ancestors=true')).toEqual(['own', 'shared'])
  })

  test('of a project can become one of the group', async () => {
    const made = await reporter.post(milestones(), { title: 'promoted' })
    const { id } = made.body as { id: number }
    const { status, body } = await reporter.post(`${milestones()}/${id}/promote`)
    expect([status, body]).toMatchObject([200, { id, group_id: group.id, title: 'promoted' }])
    expect((await reporter.get(`/groups/${group.id}/milestones/${id}`)).status).toBe(200)
  })
})
