// @module-tag long
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
  path = `/projects/${project.id}/issues`
})
afterAll(() => world[Symbol.asyncDispose]())

const answer = ({ status, body }: Reply): unknown[] => [status, body]

async function make(fields: Json = {}, where = path): Promise<Json> {
  return expectStatus(await reporter.post(where, { title: world.unique('issue'), ...fields }), 201)
}
const at = ({ iid }: Json): string => `${path}/${iid as number}`

describe('moving and cloning', () => {
  test('an issue takes along what is known in the other project', async () => {
    const to = await world.project({ namespace_id: group.id })
    expectStatus(await reporter.post(`/groups/${group.id}/labels`, { name: 'shared', color: 'red' }), 201)
    const issue = await make({
      labels: 'shared,local',
      assignee_ids: [reporter.id],
      weight: 2,
      description: 'd',
    })
    await reporter.post(`${at(issue)}/add_spent_time`, { duration: '1h' })
    const moved = await reporter.post(`${at(issue)}/move`, { to_project_id: to.id })
    expect(answer(moved)).toMatchObject([
      201,
      {
        iid: 1,
        project_id: to.id,
        title: issue['title'],
        description: 'd',
        labels: ['shared'],
        assignees: [{ id: reporter.id }],
        weight: 2,
        state: 'opened',
        time_stats: { total_time_spent: 3600 },
      },
    ])
    expect((await reporter.get(at(issue))).body).toMatchObject({
      state: 'closed',
      moved_to_id: (moved.body as Json)['id'],
      time_stats: { total_time_spent: 0 },
    })
    expect((await reporter.post(`${at(issue)}/move`, { to_project_id: to.id })).status).toBe(400)
  })

  test('a clone leaves the issue as it is', async () => {
    const issue = await make({ labels: 'cloned' })
    const clone = await reporter.post(`${at(issue)}/clone`, { to_project_id: project.id })
    expect(answer(clone)).toMatchObject([
      201,
      { title: issue['title'], labels: ['cloned'], project_id: project.id },
    ])
    const { updated_at: _time, ...same } = issue
    expect((await reporter.get(at(issue))).body).toMatchObject(same)
  })

  test('needs both projects', async () => {
    const issue = await make()
    const foreign = await world.project({ visibility: 'public' })
    const hidden = await world.project()
    expect(answer(await reporter.post(`${at(issue)}/move`, { to_project_id: foreign.id }))).toEqual([
      400,
      { message: 'Cannot move issue due to insufficient permissions!' },
    ])
    expect(answer(await reporter.post(`${at(issue)}/move`, { to_project_id: hidden.id }))).toEqual([
      404,
      { message: '404 Project Not Found' },
    ])
    expect((await reporter.post(`${at(issue)}/move`, { to_project_id: project.id })).status).toBe(400)
  })
})

test('issues are put in an order, however often', async () => {
  const place = await world.project({ namespace_id: group.id })
  const where = `/projects/${place.id}/issues`
  const [first, second, third] = [await make({}, where), await make({}, where), await make({}, where)]
  const order = async (): Promise<number[]> =>
    ((await reporter.get(`${where}?order_by=relative_position`)).body as Json[]).map(
      ({ iid }) => iid as number,
    )
  const put = (issue: Json, body: Json) => reporter.put(`${where}/${issue['iid'] as number}/reorder`, body)
  expect(await order()).toEqual([1, 2, 3])
  expectStatus(await put(third, { move_after_id: first['id'] as number }), 200)
  expect(await order()).toEqual([1, 3, 2])
  expectStatus(await put(second, { move_before_id: first['id'] as number }), 200)
  expect(await order()).toEqual([2, 1, 3])
  // More often than there is room between two.
  for (let turn = 0; turn < 24; turn += 1) {
    const moved = turn % 2 === 0 ? third : first
    expectStatus(await put(moved, { move_after_id: second['id'] as number }), 200)
    expect((await order()).slice(0, 2)).toEqual([2, moved['iid']])
  }
  expect((await put(first, {})).status).toBe(400)
  expect((await put(first, { move_after_id: 999_999 })).status).toBe(404)
})

test('somebody subscribes and unsubscribes, once each', async () => {
  const issue = await make()
  const other = await world.member({ group }, 'guest')
  const calls: unknown[] = []
  for (const verb of ['subscribe', 'subscribe', 'unsubscribe', 'unsubscribe'] as const) {
    const { status, body } = await other.post(`${at(issue)}/${verb}`)
    calls.push([status, (body as Json | undefined)?.['subscribed']])
  }
  expect(calls).toEqual([
    [201, true],
    [304, undefined],
    [201, false],
    [304, undefined],
  ])
  // Its author is subscribed without having said so.
  expect((await reporter.post(`${at(issue)}/subscribe`)).status).toBe(304)
  expect((await reporter.get(`${at(issue)}/participants`)).body).toMatchObject([{ id: reporter.id }])
})

test('time is estimated and logged', async () => {
  const issue = await make()
  const call = async (what: string, body?: Json): Promise<unknown[]> =>
    answer(await reporter.post(`${at(issue)}/${what}`, body))
  const stats = (estimate: number, spent: number, human: [string | null, string | null]) => ({
    time_estimate: estimate,
    total_time_spent: spent,
    human_time_estimate: human[0],
    human_total_time_spent: human[1],
  })
  expect(await call('time_estimate', { duration: '1d 4h' })).toEqual([200, stats(43_200, 0, ['1d 4h', null])])
  expect(await call('add_spent_time', { duration: '2h30m', summary: 's' })).toEqual([
    201,
    stats(43_200, 9000, ['1d 4h', '2h 30m']),
  ])
  expect(await call('add_spent_time', { duration: '-30m' })).toEqual([
    201,
    stats(43_200, 7200, ['1d 4h', '2h']),
  ])
  expect(await call('add_spent_time', { duration: '-3h' })).toEqual([
    400,
    { message: { base: ['Time to subtract exceeds the total time spent'] } },
  ])
  expect(await call('add_spent_time', { duration: 'a while' })).toEqual([
    400,
    { error: 'duration is invalid' },
  ])
  expect(await call('add_spent_time')).toEqual([400, { error: 'duration is missing' }])
  expect(await call('reset_spent_time')).toEqual([200, stats(43_200, 0, ['1d 4h', null])])
  expect(await call('reset_time_estimate')).toEqual([200, stats(0, 0, [null, null])])
  expect((await reporter.get(`${at(issue)}/time_stats`)).body).toEqual(stats(0, 0, [null, null]))
})

test('times are written in hours alone while time_tracking_limit_to_hours is on', async () => {
  const issue = await make()
  expectStatus(await reporter.post(`${at(issue)}/time_estimate`, { duration: '1w 2d 30m' }), 200)
  const shown = async (): Promise<unknown[]> => {
    const paths = [at(issue), `${at(issue)}/time_stats`]
    const [whole, stats] = await Promise.all(
      paths.map(async (path) => (await reporter.get(path)).body as Json),
    )
    return [(whole!['time_stats'] as Json)['human_time_estimate'], stats!['human_time_estimate']]
  }
  expect(await shown()).toEqual(['1w 2d 30m', '1w 2d 30m'])
  expectStatus(await world.root.put('/application/settings', { time_tracking_limit_to_hours: true }), 200)
  expect(await shown()).toEqual(['56h 30m', '56h 30m'])
  expectStatus(await world.root.put('/application/settings', { time_tracking_limit_to_hours: false }), 200)
  expect(await shown()).toEqual(['1w 2d 30m', '1w 2d 30m'])
})

describe('links', () => {
  const link = (from: Json, to: Json, link_type = 'relates_to') =>
    reporter.post(`${at(from)}/links`, {
      target_project_id: project.id,
      target_issue_iid: to['iid'],
      link_type,
    })

  test('are told from either side', async () => {
    const [blocking, blocked] = [await make(), await make()]
    const made = await link(blocked, blocking, 'is_blocked_by')
    expect(answer(made)).toMatchObject([
      201,
      { source_issue: { id: blocking['id'] }, target_issue: { id: blocked['id'] }, link_type: 'blocks' },
    ])
    const seen = async (issue: Json) =>
      ((await reporter.get(`${at(issue)}/links`)).body as Json[]).map(({ id, link_type }) => [id, link_type])
    expect(await seen(blocking)).toEqual([[blocked['id'], 'blocks']])
    expect(await seen(blocked)).toEqual([[blocking['id'], 'is_blocked_by']])
    expect((await reporter.get(at(blocking))).body).toMatchObject({ blocking_issues_count: 1 })
    expect(answer(await link(blocking, blocked))).toEqual([409, { message: 'Issue(s) already assigned' }])
    const { id } = made.body as { id: number }
    expect((await reporter.get(`${at(blocking)}/links/${id}`)).body).toMatchObject({ link_type: 'blocks' })
    expect((await reporter.delete(`${at(blocking)}/links/${id}`)).status).toBe(200)
    expect(await seen(blocking)).toEqual([])
  })

  test('do not tell of what the caller may not see', async () => {
    const issue = await make()
    const secret = await make({ confidential: true, title: 'secret' })
    const made = await link(issue, secret)
    const guest = await world.member({ group }, 'guest')
    const list = await guest.get(`${at(issue)}/links`)
    expect([list.body, list.headers.get('x-total')]).toEqual([[], '0'])
    expect((await guest.get(`${at(issue)}/links/${(made.body as { id: number }).id}`)).status).toBe(404)
    expect((await guest.get(`${at(secret)}/links`)).status).toBe(404)
    expect((await link(issue, { iid: 99_999 })).status).toBe(404)
  })
})

describe('the service notes', () => {
  const notes = async (issue: Json, who: Person = reporter): Promise<string[]> => {
    const { body } = await who.get(`${at(issue)}/notes?sort=asc&activity_filter=only_activity`)
    return (body as Json[]).map(({ body: text }) => text as string)
  }

  test('what changed', async () => {
    const other = await world.member({ group }, 'developer')
    const issue = await make({ title: 'Old' })
    const changes: Json[] = [
      { title: 'New', labels: 'quiet' },
      { description: 'x', weight: 3 },
      { assignee_ids: [other.id] },
      { assignee_ids: [reporter.id] },
      { due_date: '2030-06-01' },
      { due_date: '' },
      { confidential: true, discussion_locked: true },
      { state_event: 'close' },
    ]
    for (const change of changes) expectStatus(await reporter.put(at(issue), change), 200)
    await reporter.post(`${at(issue)}/time_estimate`, { duration: '1d 4h' })
    await reporter.post(`${at(issue)}/add_spent_time`, { duration: '2h' })
    const today = new Date().toISOString().slice(0, 10)
    expect(await notes(issue)).toEqual([
      'changed title from **{-Old-}** to **{+New+}**',
      'changed the description',
      'set weight to **3**',
      `assigned to @${other.username}`,
      `assigned to @${reporter.username} and unassigned @${other.username}`,
      'changed due date to June 1, 2030',
      'removed due date June 1, 2030',
      'made the issue confidential',
      'locked the discussion in this issue',
      'changed time estimate to 1d 4h',
      `added 2h of time spent at ${today}`,
    ])
  })

  test('links, to those who may see both ends', async () => {
    const [issue, secret] = [await make(), await make({ confidential: true })]
    await reporter.post(`${at(issue)}/links`, {
      target_project_id: project.id,
      target_issue_iid: secret['iid'],
    })
    expect(await notes(issue)).toEqual([`marked this issue as related to #${secret['iid'] as number}`])
    expect(await notes(issue, await world.member({ group }, 'guest'))).toEqual([])
  })
})

test('issues are found by the reactions of who asks', async () => {
  const issue = await make()
  expectStatus(await reporter.post(`${at(issue)}/award_emoji`, { name: 'thumbsup' }), 201)
  const found = async (query: string): Promise<number> =>
    ((await reporter.get(`${path}?iids=${issue['iid'] as number}&${query}`)).body as Json[]).length
  expect(await found('my_reaction_emoji=thumbsup')).toBe(1)
  expect(await found('my_reaction_emoji=None')).toBe(0)
  expect(await found('my_reaction_emoji=rocket')).toBe(0)
  expect(await found('not[my_reaction_emoji]=thumbsup')).toBe(0)
  expect((await reporter.get(at(issue))).body).toMatchObject({ upvotes: 1 })
})
