import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let project: Made
let reporter: Person
let path: string

beforeAll(async () => {
  world = await startWorld()
  group = await world.group()
  project = await world.project({ namespace_id: group.id })
  reporter = await world.member({ group }, 'reporter')
  path = `/groups/${group.id}/epics`
})
afterAll(() => world[Symbol.asyncDispose]())

const answer = ({ status, body }: Reply): unknown[] => [status, body]
const titles = ({ body }: Reply): string[] => (body as Json[]).map(({ title }) => title as string)

async function make(fields: Json = {}): Promise<Json> {
  return expectStatus(await reporter.post(path, { title: world.unique('epic'), ...fields }), 201)
}
async function issue(fields: Json = {}): Promise<Json> {
  const made = await reporter.post(`/projects/${project.id}/issues`, {
    title: world.unique('issue'),
    ...fields,
  })
  return expectStatus(made, 201)
}
const at = ({ iid }: Json): string => `${path}/${iid as number}`

describe('an epic', () => {
  test('is made, shown, changed, closed and removed', async () => {
    const made = await make({
      title: ' First ',
      labels: 'plan',
      color: 'navy',
      start_date_fixed: '2030-01-01',
      start_date_is_fixed: true,
    })
    expect(made).toMatchObject({
      iid: 1,
      group_id: group.id,
      parent_id: null,
      title: 'First',
      state: 'opened',
      confidential: false,
      author: { id: reporter.id },
      labels: ['plan'],
      color: '#000080',
      start_date: '2030-01-01',
      due_date: null,
      web_url: `${world.url}/groups/${group.full_path}/-/epics/1`,
      references: { short: '&1', relative: '&1', full: `${group.full_path}&1` },
      subscribed: true,
      _links: { group: `${world.url}/api/v4/groups/${group.id}`, parent: null },
    })
    expect(answer(await reporter.get(at(made)))).toEqual([200, made])
    const closed = await reporter.put(at(made), {
      state_event: 'close',
      remove_labels: 'plan',
      description: 'd',
    })
    expect(closed.body).toMatchObject({ state: 'closed', labels: [], description: 'd' })
    expect(titles(await reporter.get(`${path}?state=closed`))).toEqual(['First'])
    expect((await reporter.get(`${path}/${made['id'] as number}/resource_state_events`)).status).toBeLessThan(
      500,
    )
    const planner = await world.member({ group }, 'planner')
    expect((await reporter.delete(at(made))).status).toBe(403)
    expect((await planner.delete(at(made))).status).toBe(204)
    expect(answer(await reporter.get(at(made)))).toEqual([404, { message: '404 Not found' }])
  })

  test('that is confidential is for members from Planner on', async () => {
    const secret = await make({ confidential: true, title: 'secret plan' })
    const guest = await world.member({ group }, 'guest')
    expect((await guest.get(at(secret))).status).toBe(404)
    const list = await guest.get(`${path}?search=secret`)
    expect([list.body, list.headers.get('x-total')]).toEqual([[], '0'])
    expect(titles(await reporter.get(`${path}?search=SECRET&confidential=true`))).toEqual(['secret plan'])
    const inside = await issue({ epic_id: secret['id'] as number })
    expect(inside['epic']).toMatchObject({ id: secret['id'], title: 'secret plan' })
    const seen = await guest.get(`/projects/${project.id}/issues/${inside['iid'] as number}`)
    expect(seen.body).toMatchObject({ epic: null, epic_iid: null })
  })

  test('is found from the groups above', async () => {
    const sub = await world.group({ parent_id: group.id })
    expectStatus(
      await reporter.post(`/groups/${sub.id}/epics`, { title: 'deep inside', labels: 'below' }),
      201,
    )
    expect(titles(await reporter.get(`${path}?search=deep`))).toEqual(['deep inside'])
    expect(titles(await reporter.get(`${path}?labels=below&not[labels]=other`))).toEqual(['deep inside'])
    expect(titles(await reporter.get(`${path}?search=deep&include_descendant_groups=false`))).toEqual([])
  })

  test.each([
    [{}, { error: 'title is missing' }],
    [{ title: ' ' }, { error: 'title is empty' }],
    [{ title: 'x'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [{ title: 'x', color: 'none' }, { message: { color: ['must be a valid color code'] } }],
    [{ title: 'x', due_date_fixed: 'soon' }, { error: 'due_date_fixed is invalid' }],
  ])('with %j is refused', async (body, refusal) =>
    expect(answer(await reporter.post(path, body))).toEqual([400, refusal]),
  )
})

describe('a tree of epics', () => {
  test('grows by many at once', async () => {
    const parent = await make()
    const made = await Promise.all(Array.from({ length: 20 }, () => make({ parent_id: parent['id'] })))
    expect(made.map(({ parent_id }) => parent_id as unknown)).toEqual(made.map(() => parent['id']))
  })

  test('has no circles, and gives its dates on', async () => {
    const [top, middle, low] = [await make(), await make(), await make()]
    expectStatus(await reporter.post(`${at(top)}/epics/${middle['id'] as number}`), 201)
    expect((await reporter.post(`${at(top)}/epics/${middle['id'] as number}`)).status).toBe(409)
    expectStatus(await reporter.put(at(low), { parent_id: middle['id'] as number }), 200)
    expect((await reporter.put(at(top), { parent_id: low['id'] as number })).status).toBe(400)
    expect((await reporter.put(at(top), { parent_id: top['id'] as number })).status).toBe(400)
    const milestone = expectStatus(
      await reporter.post(`/projects/${project.id}/milestones`, {
        title: 'planned',
        start_date: '2030-02-01',
        due_date: '2030-03-01',
      }),
      201,
    )
    await issue({ epic_id: low['id'] as number, milestone_id: milestone['id'] as number })
    const dates = async (epic: Json): Promise<unknown[]> => {
      const { body } = await reporter.get(at(epic))
      const { start_date, due_date } = body as Json
      return [start_date, due_date]
    }
    expect(await dates(top)).toEqual(['2030-02-01', '2030-03-01'])
    await reporter.put(at(middle), { due_date_fixed: '2030-12-31', due_date_is_fixed: true })
    expect(await dates(top)).toEqual(['2030-02-01', '2030-12-31'])
    expect(await dates(low)).toEqual(['2030-02-01', '2030-03-01'])
    expect((await reporter.get(at(low))).body).toMatchObject({
      parent_id: middle['id'],
      parent_iid: middle['iid'],
      due_date_from_milestones: '2030-03-01',
    })
    const child = await reporter.post(`${at(top)}/epics`, { title: 'new child' })
    expect(answer(child)).toMatchObject([201, { parent_id: top['id'] }])
    expectStatus(
      await reporter.put(`${at(top)}/epics/${(child.body as { id: number }).id}`, {
        move_before_id: middle['id'] as number,
      }),
      200,
    )
    expect(titles(await reporter.get(`${at(top)}/epics`))).toEqual(['new child', middle['title']])
    expectStatus(await reporter.delete(`${at(top)}/epics/${middle['id'] as number}`), 200)
    expect(await dates(top)).toEqual([null, null])
    expect((await reporter.delete(`${at(top)}/epics/${middle['id'] as number}`)).status).toBe(404)
  })

  test('gets as many below it at once as are asked for', async () => {
    const above = await make()
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, number) => reporter.post(`${at(above)}/epics`, { title: `${number}` })),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201]))
  })

  test('is at most seven deep', async () => {
    let above = await make()
    for (let depth = 2; depth <= 7; depth += 1) above = await make({ parent_id: above['id'] as number })
    expect((await reporter.post(path, { title: 'too deep', parent_id: above['id'] as number })).status).toBe(
      400,
    )
  })

  test('holds issues in an order', async () => {
    const epic = await make()
    const issues = [await issue(), await issue(), await issue()]
    for (const { id } of issues) expectStatus(await reporter.post(`${at(epic)}/issues/${id as number}`), 201)
    const order = async (): Promise<unknown[]> =>
      ((await reporter.get(`${at(epic)}/issues`)).body as Json[]).map(({ id }) => id as unknown)
    const [a, b, c] = issues.map(({ id }) => id as number)
    expect(await order()).toEqual([a, b, c])
    expectStatus(await reporter.put(`${at(epic)}/issues/${c!}`, { move_before_id: a }), 200)
    expect(await order()).toEqual([c, a, b])
    expect(
      (await reporter.get(`/projects/${project.id}/issues?epic_id=${epic['id'] as number}`)).body,
    ).toHaveLength(3)
    expectStatus(await reporter.delete(`${at(epic)}/issues/${a!}`), 200)
    expect(await order()).toEqual([c, b])
    expect((await reporter.delete(`${at(epic)}/issues/${a!}`)).status).toBe(404)
    expect((await reporter.get(`${path}/99999/issues`)).status).toBe(404)
  })
})

describe('what became of an issue', () => {
  test('is recorded', async () => {
    const made = await issue({ labels: 'one', weight: 1 })
    const where = `/projects/${project.id}/issues/${made['iid'] as number}`
    await reporter.put(where, { labels: 'two', weight: 2, state_event: 'close' })
    await reporter.put(where, { state_event: 'reopen' })
    const events = async (kind: string): Promise<Json[]> =>
      (await reporter.get(`${where}/resource_${kind}_events`)).body as Json[]
    const labels = await events('label')
    expect(labels.map(({ action, label }) => [action, (label as Json)['name']] as unknown)).toEqual([
      ['add', 'one'],
      ['add', 'two'],
      ['remove', 'one'],
    ])
    expect(labels[0]).toMatchObject({
      user: { id: reporter.id },
      resource_type: 'Issue',
      resource_id: made['id'],
      label: { color: '#6699cc' },
    })
    expect((await events('state')).map(({ state }) => state as string)).toEqual(['closed', 'reopened'])
    expect((await events('weight')).map(({ weight }) => weight as number)).toEqual([1, 2])
    const one = await reporter.get(`${where}/resource_label_events/${labels[0]!['id'] as number}`)
    expect(one.body).toEqual(labels[0])
    expect(answer(await reporter.get(`${where}/resource_label_events/999999`))).toEqual([
      404,
      { message: '404 Not found' },
    ])
    await reporter.delete(`/projects/${project.id}/labels/one`)
    expect((await events('label'))[0]).toMatchObject({ label: null })
  })

  test('is for those who see it', async () => {
    const secret = await issue({ confidential: true, labels: 'one' })
    const guest = await world.member({ group }, 'guest')
    const where = `/projects/${project.id}/issues/${secret['iid'] as number}/resource_label_events`
    expect((await guest.get(where)).status).toBe(404)
    const quiet = await reporter.get(where.replace('label', 'state'))
    expect([quiet.body, quiet.headers.get('x-total')]).toEqual([[], '0'])
    expect((await reporter.get(where)).body).toHaveLength(1)
  })
})

test('epics are found with a dash after the group, too', async () => {
  const made = await make()
  const dashed = path.replace(/epics$/, '-/epics')
  expect((await reporter.get(`${dashed}/${made['iid'] as number}`)).body).toEqual(made)
  expect(answer(await reporter.get(`${dashed}?per_page=1`))).toEqual(
    answer(await reporter.get(`${path}?per_page=1`)),
  )
  expectStatus(await reporter.get(`${dashed}/${made['iid'] as number}/issues`), 200)
})
