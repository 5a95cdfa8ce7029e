import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { during } from '../settings/effects.ts'
import type { Person, Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type Made, type World } from '../world/world.ts'

let world: World
let group: Made
let project: Made
let reporter: Person
let guest: Person
let path: string

beforeAll(async () => {
  world = await startWorld()
  group = await world.group({ visibility: 'public' })
  project = await world.project({ namespace_id: group.id, visibility: 'public' })
  reporter = await world.member({ group }, 'reporter')
  guest = await world.member({ group }, 'guest')
  path = `/projects/${project.id}/issues`
})
afterAll(() => world[Symbol.asyncDispose]())

const answer = ({ status, body }: Reply): unknown[] => [status, body]
const titles = ({ body }: Reply): string[] => (body as Json[]).map(({ title }) => title as string)

async function make(fields: Json, by: Person = reporter, where = path): Promise<Json> {
  return expectStatus(await by.post(where, { title: world.unique('issue'), ...fields }), 201)
}

describe('an issue', () => {
  test('shows all of itself', async () => {
    const fresh = await world.project({ namespace_id: group.id, visibility: 'public' })
    const made = await reporter.post(`/projects/${fresh.id}/issues`, {
      title: ' First ',
      description: '- [x] a\n- [ ] b',
      labels: 'bug,later',
      assignee_ids: [guest.id, 0, 999_999],
      due_date: '2030-01-02',
      weight: 3,
    })
    const url = `${world.url}/${fresh.path_with_namespace}/-/issues/1`
    const api = `${world.url}/api/v4/projects/${fresh.id}`
    const person = ({ id, username }: Person): Json => ({
      id,
      username,
      public_email: null,
      name: `Name of ${username}`,
      state: 'active',
      locked: false,
      avatar_url: expect.any(String) as string,
      web_url: `${world.url}/${username}`,
    })
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string
    const issue = {
      id: expect.any(Number) as number,
      iid: 1,
      project_id: fresh.id,
      title: 'First',
      description: '- [x] a\n- [ ] b',
      state: 'opened',
      created_at: time,
      updated_at: time,
      closed_at: null,
      closed_by: null,
      labels: ['bug', 'later'],
      milestone: null,
      assignees: [person(guest)],
      author: person(reporter),
      type: 'ISSUE',
      assignee: person(guest),
      user_notes_count: 0,
      merge_requests_count: 0,
      upvotes: 0,
      downvotes: 0,
      due_date: '2030-01-02',
      confidential: false,
      discussion_locked: null,
      issue_type: 'issue',
      web_url: url,
      time_stats: {
        time_estimate: 0,
        total_time_spent: 0,
        human_time_estimate: null,
        human_total_time_spent: null,
      },
      task_completion_status: { count: 2, completed_count: 1 },
      weight: 3,
      blocking_issues_count: 0,
      has_tasks: true,
      task_status: '1 of 2 checklist items completed',
      _links: {
        self: `${api}/issues/1`,
        notes: `${api}/issues/1/notes`,
        award_emoji: `${api}/issues/1/award_emoji`,
        project: api,
        closed_as_duplicate_of: null,
      },
      references: { short: '#1', relative: '#1', full: `${fresh.path_with_namespace}#1` },
      severity: 'UNKNOWN',
      subscribed: true,
      moved_to_id: null,
      imported: false,
      imported_from: 'none',
      service_desk_reply_to: null,
      epic_iid: null,
      epic: null,
      iteration: null,
      health_status: null,
    }
    expect(answer(made)).toEqual([201, issue])
    expect(answer(await reporter.get(`/projects/${fresh.id}/issues/1`))).toEqual([200, issue])
    const { subscribed, ...listed } = issue
    expect(subscribed).toBe(true)
    expect(answer(await world.anonymous.get(`/projects/${fresh.id}/issues`))).toEqual([200, [listed]])
    expect((await reporter.get(`/groups/${group.id}/issues?iids=1&search=First`)).body).toMatchObject([
      { references: { relative: `${fresh.path}#1` } },
    ])
  })

  test('is closed and opened again, once', async () => {
    const { iid } = await make({})
    const closed = await reporter.put(`${path}/${iid as number}`, { state_event: 'close' })
    expect(closed.body).toMatchObject({ state: 'closed', closed_by: { id: reporter.id } })
    const again = await reporter.put(`${path}/${iid as number}`, { state_event: 'close' })
    expect(again.body).toEqual(closed.body)
    const opened = await reporter.put(`${path}/${iid as number}`, { state_event: 'reopen' })
    expect(opened.body).toMatchObject({ state: 'opened', closed_by: null, closed_at: null })
  })

  test('keeps, adds and takes labels; a scope has one', async () => {
    const { iid, labels } = await make({ labels: ['a', 'p::1', 'p::2'] })
    expect(labels).toEqual(['a', 'p::2'])
    const change = async (body: Json) =>
      ((await reporter.put(`${path}/${iid as number}`, body)).body as Json)['labels']
    expect(await change({ add_labels: 'b,p::3' })).toEqual(['a', 'b', 'p::3'])
    expect(await change({ remove_labels: ['a'], add_labels: ['c'] })).toEqual(['b', 'c', 'p::3'])
    expect(await change({ labels: 'z' })).toEqual(['z'])
    expect(await change({ labels: '' })).toEqual([])
    const details = await reporter.get(`${path}?labels=None&iids[]=${iid as number}&with_labels_details=true`)
    expect(details.body).toHaveLength(1)
  })

  test('of a guest or a stranger takes what they may say', async () => {
    const fields = { labels: 'guests', assignee_id: reporter.id, due_date: '2030-01-02', weight: 1 }
    expect(await make(fields, guest)).toMatchObject({
      assignees: [{ id: reporter.id }],
      weight: 1,
      labels: [],
    })
    const stranger = await world.user()
    const made = await make({ ...fields, confidential: true }, stranger)
    expect(made).toMatchObject({ assignees: [], weight: null, due_date: null, confidential: true })
    const changed = await stranger.put(`${path}/${made['iid'] as number}`, { title: 'mine', weight: 5 })
    expect(changed.body).toMatchObject({ title: 'mine', weight: null })
  })

  test('has a number and a date of its own for owners only', async () => {
    const owner = await world.member({ group }, 'owner')
    const created_at = '2020-01-02T03:04:05.000Z'
    const made = await make({ iid: 5000, created_at }, owner)
    expect(made).toMatchObject({ iid: 5000, created_at, updated_at: created_at })
    expect(answer(await owner.post(path, { title: 'x', iid: 5000 }))).toEqual([
      409,
      { message: 'Duplicated issue' },
    ])
    const next = await make({ iid: 1, created_at })
    expect(next['iid']).toBe(5001)
    expect(next['created_at']).not.toBe(created_at)
  })

  test('that is confidential is seen by its author, its assignees and members from Planner on', async () => {
    const author = await world.user()
    const assignee = await world.user()
    const { iid } = await make({ confidential: true, title: 'secret' }, author)
    const address = `${path}/${iid as number}`
    await reporter.put(address, { assignee_ids: [assignee.id] })
    for (const person of [author, assignee, reporter]) {
      expect((await person.get(address)).status).toBe(200)
      expect(titles(await person.get(`${path}?search=secret`))).toEqual(['secret'])
      expect((await person.get(`${path.replace('issues', 'issues_statistics')}?search=secret`)).body).toEqual(
        {
          statistics: { counts: { all: 1, closed: 0, opened: 1 } },
        },
      )
    }
    for (const client of [guest, await world.user(), world.anonymous]) {
      expect(answer(await client.get(address))).toEqual([404, { message: '404 Not found' }])
      const found = await client.get(`${path}?search=secret`)
      expect([titles(found), found.headers.get('x-total')]).toEqual([[], '0'])
      expect((await client.get(`/groups/${group.id}/issues?search=secret`)).body).toEqual([])
      expect((await client.get(`${path.replace('issues', 'issues_statistics')}?search=secret`)).body).toEqual(
        {
          statistics: { counts: { all: 0, closed: 0, opened: 0 } },
        },
      )
    }
    expect((await guest.put(address, { title: 'x' })).status).toBe(404)
  })

  test('is not there where issues are switched off', async () => {
    const off = await world.project({ namespace_id: group.id, visibility: 'public' })
    const { iid } = await make({}, reporter, `/projects/${off.id}/issues`)
    expectStatus(await world.root.put(`/projects/${off.id}`, { issues_access_level: 'disabled' }), 200)
    expect((await reporter.get(`/projects/${off.id}/issues`)).body).toEqual([])
    expect((await reporter.get(`/projects/${off.id}/issues/${iid as number}`)).status).toBe(404)
    expect((await reporter.post(`/projects/${off.id}/issues`, { title: 'x' })).status).toBe(403)
    expectStatus(await world.root.put(`/projects/${off.id}`, { issues_access_level: 'private' }), 200)
    expect((await guest.get(`/projects/${off.id}/issues`)).body).toHaveLength(1)
    const stranger = await world.user()
    expect((await stranger.get(`/projects/${off.id}/issues`)).body).toEqual([])
    expect((await stranger.get(`/projects/${off.id}/issues/${iid as number}`)).status).toBe(404)
    expect((await stranger.post(`/projects/${off.id}/issues`, { title: 'x' })).status).toBe(403)
  })

  test.each([
    [{}, { error: 'title is missing' }],
    [{ title: ' ' }, { error: 'title is empty' }],
    [{ title: 'x'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [
      { title: 'x', description: 'y'.repeat(1_048_577) },
      { message: { description: ['is too long (maximum is 1048576 characters)'] } },
    ],
    [{ title: 'x', issue_type: 'epic' }, { error: 'issue_type does not have a valid value' }],
    [{ title: 'x', weight: -1 }, { error: 'weight does not have a valid value' }],
    [{ title: 'x', due_date: '2020-13-01' }, { error: 'due_date is invalid' }],
    [
      { title: 'x', assignee_ids: Array.from({ length: 201 }, (_, index) => index + 1) },
      { message: { assignees: ['total must be less than or equal to 200'] } },
    ],
  ])('with %j is refused', async (body, refusal) => {
    expect(answer(await reporter.post(path, body))).toEqual([400, refusal])
  })

  test('is not changed by nothing, nor deleted by most', async () => {
    const { iid } = await make({})
    const address = `${path}/${iid as number}`
    const empty = await reporter.put(address, {})
    expect(empty.status).toBe(400)
    expect((empty.body as Json)['error']).toMatch(
      /^title, .*are missing, at least one parameter must be provided$/,
    )
    expect((await reporter.delete(address)).status).toBe(403)
    const planner = await world.member({ group }, 'planner')
    expect((await planner.delete(address)).status).toBe(204)
    expect((await reporter.get(address)).status).toBe(404)
  })
})

describe('a list of issues', () => {
  let listed: string
  let other: Person
  const by = async (query: string, who: Person = reporter): Promise<string[]> =>
    titles(await who.get(`${listed}?${query}`)).toSorted()

  beforeAll(async () => {
    const place = await world.project({ namespace_id: group.id, visibility: 'public' })
    listed = `/projects/${place.id}/issues`
    other = await world.member({ group }, 'developer')
    const milestone = expectStatus(
      await reporter.post(`/projects/${place.id}/milestones`, { title: 'v1', start_date: '2020-01-01' }),
      201,
    )['id'] as number
    const day = (offset: number): string =>
      new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
    await make({ title: 'one apple', labels: 'a', milestone_id: milestone, weight: 1 }, reporter, listed)
    await make({ title: 'two', description: 'Apple pie', labels: 'a,b', due_date: day(0) }, reporter, listed)
    await make({ title: 'three', labels: 's::1', assignee_ids: [other.id], due_date: day(-1) }, other, listed)
    await make({ title: 'four', confidential: true, issue_type: 'incident', due_date: day(1) }, other, listed)
    await reporter.put(`${listed}/2`, { state_event: 'close' })
  })

  test.each([
    ['', ['four', 'one apple', 'three', 'two']],
    ['state=opened', ['four', 'one apple', 'three']],
    ['state=closed', ['two']],
    ['labels=a', ['one apple', 'two']],
    ['labels=a,b', ['two']],
    ['labels=none', ['four']],
    ['labels=Any', ['one apple', 'three', 'two']],
    ['labels=s::*', ['three']],
    ['labels=missing', []],
    ['not[labels]=b', ['four', 'one apple', 'three']],
    ['not[labels][]=a&not[labels][]=s::1', ['four']],
    ['milestone=v1', ['one apple']],
    ['milestone=None', ['four', 'three', 'two']],
    ['milestone_id=Started', ['one apple']],
    ['milestone_id=Upcoming', []],
    ['not[milestone]=v1', ['four', 'three', 'two']],
    ['search=APPLE', ['one apple', 'two']],
    ['search=apple&in=title', ['one apple']],
    ['search=apple&labels=b', ['two']],
    ['search=pie%20apple', ['two']],
    ['search=%22pie%20apple%22', []],
    ['search=100%25', []],
    ['confidential=true', ['four']],
    ['issue_type=incident', ['four']],
    ['weight=1', ['one apple']],
    ['weight=None', ['four', 'three', 'two']],
    ['not[weight]=1', ['four', 'three', 'two']],
    ['assignee_id=None', ['four', 'one apple', 'two']],
    ['assignee_id=Any', ['three']],
    ['iids[]=1&iids[]=3', ['one apple', 'three']],
    ['not[iids]=1,3', ['four', 'two']],
    ['due_date=0', ['one apple']],
    ['due_date=any', ['four', 'three', 'two']],
    ['due_date=today', ['two']],
    ['due_date=tomorrow', ['four']],
    ['due_date=overdue', ['three']],
    ['due_date=next_month_and_previous_two_weeks', ['four', 'three', 'two']],
    ['created_after=2100-01-01', []],
    ['updated_before=2100-01-01', ['four', 'one apple', 'three', 'two']],
    ['epic_id=None', ['four', 'one apple', 'three', 'two']],
    ['health_status=Any', []],
    ['scope=assigned_to_me', []],
    ['scope=created_by_me', ['one apple', 'two']],
  ])('by %s', async (query, expected) => expect(await by(query)).toEqual(expected))

  test('by people', async () => {
    expect(await by(`author_id=${other.id}`)).toEqual(['four', 'three'])
    expect(await by(`author_username=${other.username.toUpperCase()}`)).toEqual(['four', 'three'])
    expect(await by(`assignee_id=${other.id}`)).toEqual(['three'])
    expect(await by(`assignee_username[]=${other.username}`)).toEqual(['three'])
    expect(await by(`not[author_id]=${other.id}`)).toEqual(['one apple', 'two'])
    expect(await by(`not[assignee_id]=${other.id}`)).toEqual(['four', 'one apple', 'two'])
    expect(await by('scope=assigned_to_me', other)).toEqual(['three'])
    expect(titles(await other.get('/issues?order_by=title&sort=asc'))).toEqual(['four', 'three'])
    expect(titles(await other.get('/issues?scope=assigned_to_me'))).toEqual(['three'])
  })

  test.each([
    ['order_by=created_at&sort=asc', ['one apple', 'two', 'three', 'four']],
    ['order_by=title&sort=desc', ['two', 'three', 'one apple', 'four']],
    ['order_by=due_date&sort=asc', ['three', 'two', 'four', 'one apple']],
    ['order_by=due_date&sort=desc', ['four', 'two', 'three', 'one apple']],
    ['order_by=weight&sort=desc&per_page=1', ['one apple']],
    ['order_by=milestone_due', ['four', 'three', 'two', 'one apple']],
    ['order_by=label_priority', ['four', 'three', 'two', 'one apple']],
    ['order_by=priority&sort=asc', ['one apple', 'two', 'three', 'four']],
    ['order_by=relative_position', ['one apple', 'two', 'three', 'four']],
    ['order_by=popularity&sort=asc', ['one apple', 'two', 'three', 'four']],
  ])('in the order %s', async (query, expected) =>
    expect(titles(await reporter.get(`${listed}?${query}`))).toEqual(expected),
  )

  test('by pages and by cursors', async () => {
    const second = await reporter.get(`${listed}?per_page=3&page=2&sort=asc`)
    expect([titles(second), second.headers.get('x-total')]).toEqual([['four'], '4'])
    const seen: string[] = []
    let next: string | undefined = `${world.url}/api/v4${listed}?pagination=keyset&per_page=3&sort=asc`
    while (next !== undefined) {
      const reply: Reply = await reporter.get(next)
      seen.push(...titles(reply))
      next = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual(['one apple', 'two', 'three', 'four'])
  })

  test.each([
    ['milestone=v1&milestone_id=Any', 400],
    ['author_id=1&author_username=x', 400],
    ['assignee_id=somebody', 400],
    ['in=author', 400],
    ['order_by=id', 400],
    ['pagination=keyset&order_by=title', 405],
    ['pagination=keyset&cursor=x', 400],
    ['page=10000&per_page=100', 405],
    ['not=x', 400],
    ['labels=%00', 400],
  ])('refuses %s', async (query, status) =>
    expect((await reporter.get(`${listed}?${query}`)).status).toBe(status),
  )
})

test('any issue by its id is for administrators', async () => {
  const { id } = await make({})
  expect((await world.root.get(`/issues/${id as number}`)).body).toMatchObject({ id })
  expect((await reporter.get(`/issues/${id as number}`)).status).toBe(403)
  expect((await world.root.get('/issues/999999')).status).toBe(404)
})

test('a milestone that is deleted leaves its issues', async () => {
  const { id } = expectStatus(
    await reporter.post(`/projects/${project.id}/milestones`, { title: 'gone' }),
    201,
  )
  const { iid } = await make({ milestone_id: id })
  await reporter.delete(`/projects/${project.id}/milestones/${id as number}`)
  expect((await reporter.get(`${path}/${iid as number}`)).body).toMatchObject({ milestone: null })
})

test('labels tell how many issues have them, without those that the caller may not see', async () => {
  const place = await world.project({ namespace_id: group.id, visibility: 'public' })
  const where = `/projects/${place.id}/issues`
  await make({ labels: 'counted' }, reporter, where)
  await make({ labels: 'counted', confidential: true }, reporter, where)
  const counts = async (who: Person) =>
    (await who.get(`/projects/${place.id}/labels?with_counts=true`)).body as Json[]
  expect(await counts(reporter)).toMatchObject([{ open_issues_count: 2, closed_issues_count: 0 }])
  expect(await counts(guest)).toMatchObject([{ open_issues_count: 1, closed_issues_count: 0 }])
})

test('one user makes so many issues a minute in one project as the instance allows', async () => {
  const place = await world.project({ namespace_id: group.id })
  const statuses = async (): Promise<number[]> => {
    const found: number[] = []
    for (let made = 0; made < 3; made += 1) {
      found.push((await guest.post(`/projects/${place.id}/issues`, { title: 'x' })).status)
    }
    return found
  }
  await during(world, { issues_create_limit: 2 }, async () => {
    expect(await statuses()).toEqual([201, 201, 429])
  })
  expect(await statuses()).toEqual([201, 201, 201])
})
