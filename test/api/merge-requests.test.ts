import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MergeProjects, type MergeProject } from '../world/merge-project.ts'
import type { Reply } from '../world/client.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let projects: MergeProjects
beforeAll(async () => {
  world = await startWorld()
  projects = new MergeProjects(world)
})
afterAll(() => world[Symbol.asyncDispose]())

const answer = ({ status, body }: Reply): [number, unknown] => [status, body]
const iidsOf = (reply: Reply): number[] =>
  (expectStatus(reply, 200) as Json[]).map(({ iid }) => iid as number)

test('a request is made, read, changed, closed, reopened and deleted', async () => {
  const at = await projects.make()
  const made = await at.request({ 'a.txt': 'a\n' }, { title: 'Add a', description: '- [x] one\n- [ ] two' })
  expect(made).toMatchObject({
    iid: 1,
    project_id: at.id,
    title: 'Add a',
    state: 'opened',
    draft: false,
    work_in_progress: false,
    target_branch: 'main',
    source_project_id: at.id,
    target_project_id: at.id,
    author: { username: at.developer.username },
    assignees: [],
    reviewers: [],
    merge_status: 'can_be_merged',
    detailed_merge_status: 'mergeable',
    has_conflicts: false,
    changes_count: '1',
    task_completion_status: { count: 2, completed_count: 1 },
    reference: '!1',
    references: { short: '!1', relative: '!1', full: `${at.fullPath}!1` },
    web_url: `${world.url}/${at.fullPath}/-/merge_requests/1`,
    merge_commit_sha: null,
    user: { can_merge: false },
    diff_refs: { head_sha: made['sha'] },
    time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null },
    subscribed: true,
    first_contribution: true,
  })
  expect(made['diff_refs'].base_sha).toBe(made['diff_refs'].start_sha)
  expect(expectStatus(await at.developer.get(at.one(1)), 200)).toEqual(made)
  expect(expectStatus(await at.maintainer.get(at.one(1)), 200)).toMatchObject({ user: { can_merge: true } })

  const changed = expectStatus(
    await at.developer.put(at.one(1), {
      title: 'Draft: Add a',
      assignee_ids: [at.developer.id, at.maintainer.id],
      reviewer_ids: [at.maintainer.id],
      squash: true,
      discussion_locked: true,
    }),
    200,
  )
  expect(changed).toMatchObject({
    draft: true,
    detailed_merge_status: 'draft_status',
    squash: true,
    squash_on_merge: true,
    discussion_locked: true,
    reviewers: [{ id: at.maintainer.id }],
    assignee: { id: at.developer.id },
  })
  expect(changed['assignees']).toHaveLength(2)
  expect(expectStatus(await at.developer.get(`${at.one(1)}/reviewers`), 200)).toMatchObject([
    { user: { id: at.maintainer.id }, state: 'unreviewed' },
  ])
  expect(expectStatus(await at.developer.get(`${at.one(1)}/participants`), 200)).toHaveLength(2)
  expect(expectStatus(await at.developer.put(at.one(1), { assignee_ids: [0] }), 200)).toMatchObject({
    assignees: [],
  })

  const closed = expectStatus(await at.developer.put(at.one(1), { state_event: 'close' }), 200)
  expect(closed).toMatchObject({
    state: 'closed',
    closed_by: { id: at.developer.id },
    closed_at: expect.any(String),
    detailed_merge_status: 'not_open',
  })
  expect(expectStatus(await at.developer.put(at.one(1), { state_event: 'close' }), 200)['state']).toBe(
    'closed',
  )
  expect(expectStatus(await at.developer.put(at.one(1), { state_event: 'reopen' }), 200)).toMatchObject({
    state: 'opened',
    closed_at: null,
    closed_by: null,
  })
  expect((await at.maintainer.delete(at.one(1))).status).toBe(403)
  expect((await world.root.delete(at.one(1))).status).toBe(204)
  expect(answer(await at.developer.get(at.one(1)))).toEqual([404, { message: '404 Not found' }])
  expect((await at.request({ 'b.txt': 'b\n' }))['iid']).toBe(2)
})

describe('creating is refused', () => {
  let at: MergeProject
  let branch: string
  beforeAll(async () => {
    at = await projects.make()
    branch = await at.branch({ 'x.txt': 'x\n' })
  })
  const create = (fields: Json) =>
    at.developer.post(at.path, { source_branch: branch, target_branch: 'main', title: 'T', ...fields })

  test.each<[string, Json, number, Json]>([
    ['without a title', { title: undefined }, 400, { error: 'title is missing' }],
    [
      'with a title too long',
      { title: 't'.repeat(256) },
      400,
      { message: { title: ['is too long (maximum is 255 characters)'] } },
    ],
    ['from nowhere', { source_branch: 'nowhere' }, 400, { message: { source_branch: ['does not exist'] } }],
    [
      'from what is no branch',
      { source_branch: '-x' },
      400,
      { message: { source_branch: ['does not exist'] } },
    ],
    ['into nowhere', { target_branch: 'nowhere' }, 400, { message: { target_branch: ['does not exist'] } }],
    [
      'into itself',
      { source_branch: 'main' },
      422,
      { message: ["You can't use same project/branch for source and target"] },
    ],
    [
      'with one and several assignees',
      { assignee_id: 1, assignee_ids: [1] },
      400,
      { error: 'assignee_id, assignee_ids are mutually exclusive' },
    ],
    [
      'with too many reviewers',
      { reviewer_ids: Array.from({ length: 201 }, (_, id) => id + 1) },
      400,
      { message: { reviewers: ['total must be less than or equal to 200'] } },
    ],
  ])('%s', async (_, fields, status, body) => {
    expect(answer(await create(fields))).toEqual([status, body])
  })

  test('into a project that has nothing to do with it', async () => {
    const other = await world.project({ visibility: 'public' })
    expect(answer(await create({ target_project_id: other.id }))).toEqual([
      422,
      { message: ['Source project is not a fork of the target project'] },
    ])
  })

  test('beside another open one', async () => {
    const replies = await Promise.all([create({}), create({}), create({})])
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const made = replies.find(({ status }) => status === 201)!.body as Json
    const taken = {
      message: [
        `Another open merge request already exists for this source branch: !${made['iid'] as number}`,
      ],
    }
    expect(answer(await create({}))).toEqual([409, taken])
    await at.developer.put(at.one(made['iid'] as number), { state_event: 'close' })
    expectStatus(await create({}), 201)
    expect(
      answer(await at.developer.put(at.one(made['iid'] as number), { state_event: 'reopen' })),
    ).toMatchObject([409, { message: [expect.stringMatching(/^Another open merge request/)] }])
  })
})

describe('lists', () => {
  let at: MergeProject
  beforeAll(async () => {
    at = await projects.make()
    await at.request({ '1.txt': '1\n' }, { title: 'First', source_branch: 'one' })
    await at.request(
      { '2.txt': '2\n' },
      { title: 'Draft: Second', description: 'needle', reviewer_ids: [at.maintainer.id] },
    )
    await at.request({ '3.txt': '3\n' }, { title: 'Third', assignee_id: at.maintainer.id }, at.maintainer)
    await at.developer.put(at.one(1), { state_event: 'close' })
  })

  test.each<[string, number[]]>([
    ['', [3, 2, 1]],
    ['sort=asc', [1, 2, 3]],
    ['order_by=title&sort=asc', [2, 1, 3]],
    ['order_by=updated_at', [1, 3, 2]],
    ['state=opened', [3, 2]],
    ['state=closed', [1]],
    ['state=merged', []],
    ['iids[]=1&iids[]=3', [3, 1]],
    ['author_username=:developer', [2, 1]],
    ['not[author_username]=:developer', [3]],
    ['assignee_id=:maintainer_id', [3]],
    ['assignee_id=None', [2, 1]],
    ['assignee_id=Any', [3]],
    ['assignee_username=:maintainer', [3]],
    ['not[assignee_username]=:maintainer', [2, 1]],
    ['reviewer_id=:maintainer_id', [2]],
    ['reviewer_id=None', [3, 1]],
    ['reviewer_username=:maintainer', [2]],
    ['draft=yes', [2]],
    ['wip=no', [3, 1]],
    ['search=needle', [2]],
    ['search=needle&in=title', []],
    ['search=IRS', [1]],
    ['search=%25', []],
    ['source_branch=one', [1]],
    ['not[source_branch]=one', [3, 2]],
    ['target_branch=main', [3, 2, 1]],
    ['created_after=2040-01-01', []],
    ['created_before=2040-01-01T00:00:00Z', [3, 2, 1]],
    ['updated_after=2040-01-01', []],
    ['approved_by_ids=None', [3, 2, 1]],
    ['approved_by_ids=Any', []],
    ['approved_by_ids[]=None', [3, 2, 1]],
    ['approver_ids[]=Any', []],
    ['merge_user_id=1', []],
    ['environment=production', []],
    ['scope=created_by_me', [2, 1]],
    ['scope=assigned_to_me', []],
  ])('of a project, with %s', async (query, iids) => {
    const names = {
      ':developer': at.developer.username,
      ':maintainer_id': String(at.maintainer.id),
      ':maintainer': at.maintainer.username,
    }
    const filled = Object.entries(names).reduce((text, [name, value]) => text.replace(name, value), query)
    expect(iidsOf(await at.developer.get(`${at.path}?${filled}`))).toEqual(iids)
  })

  test.each(['author', 'assignee', 'reviewer', 'merge_user'])(
    'are asked for by the number or the name of the %s',
    async (who) => {
      const reply = await at.developer.get(`${at.path}?${who}_id=1&${who}_username=root`)
      expect([reply.status, reply.body]).toEqual([
        400,
        { error: `${who}_id, ${who}_username are mutually exclusive` },
      ])
    },
  )

  test('of everything, and of a group, show what the caller may see', async () => {
    expect(iidsOf(await at.developer.get('/merge_requests'))).toEqual([2, 1])
    expect(iidsOf(await at.maintainer.get('/merge_requests?scope=reviews_for_me'))).toEqual([2])
    expect(iidsOf(await at.maintainer.get('/merge_requests?scope=assigned-to-me'))).toEqual([3])
    expect(iidsOf(await at.developer.get(`/merge_requests?scope=all&author_id=${at.developer.id}`))).toEqual([
      2, 1,
    ])
    const stranger = await world.user()
    const guest = await world.member(at, 'guest')
    const reporter = await world.member(at, 'reporter')
    const ofAll = `/merge_requests?scope=all&author_id=${at.developer.id}`
    expect(iidsOf(await stranger.get(ofAll))).toEqual([])
    expect(iidsOf(await guest.get(ofAll))).toEqual([])
    expect(iidsOf(await reporter.get(ofAll))).toEqual([2, 1])
    expect(iidsOf(await world.root.get(ofAll))).toEqual([2, 1])
    const group = `/groups/${at.project['namespace'].id as number}`
    expect(iidsOf(await world.root.get(`${group}/merge_requests`))).toEqual([3, 2, 1])
    const inside = await world.member({ group: at.project['namespace'] as Json }, 'reporter')
    expect(iidsOf(await inside.get(`${group}/merge_requests?state=opened`))).toEqual([3, 2])
    expectStatus(await world.root.post(`${at.base}/archive`), 201)
    expect(iidsOf(await inside.get(`${group}/merge_requests`))).toEqual([])
    expect(iidsOf(await inside.get(`${group}/merge_requests?non_archived=false`))).toEqual([3, 2, 1])
    expectStatus(await world.root.post(`${at.base}/unarchive`), 201)
  })

  test('follow the visibility of the project', async () => {
    const open = await projects.make({ visibility: 'public' })
    const made = await open.request({ 'p.txt': 'p\n' })
    const stranger = await world.user()
    const list = `/merge_requests?scope=all&author_id=${open.developer.id}`
    expect(iidsOf(await stranger.get(list))).toEqual([made['iid']])
    expect(iidsOf(await world.anonymous.get(open.path))).toEqual([made['iid']])
    expectStatus(await world.root.put(open.base, { merge_requests_access_level: 'private' }), 200)
    expect(iidsOf(await stranger.get(list))).toEqual([])
    expect((await stranger.get(open.path)).status).toBe(403)
    expect((await stranger.get(open.one(1))).status).toBe(404)
    expectStatus(await world.root.put(open.base, { merge_requests_access_level: 'disabled' }), 200)
    expect((await open.developer.get(open.path)).status).toBe(403)
    expect((await open.developer.get(open.one(1))).status).toBe(404)
    expect(iidsOf(await world.root.get(list))).toEqual([])
  })

  test('are read to their end by cursors', async () => {
    const seen: number[] = []
    let address: string | undefined = `${at.path}?pagination=keyset&per_page=2`
    while (address !== undefined) {
      const reply: Reply = await at.developer.get(address)
      seen.push(...iidsOf(reply))
      expect(reply.headers.get('x-total')).toBeNull()
      const next = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(reply.headers.get('link') ?? '')
      address = next?.[1]
    }
    expect(seen).toEqual([3, 2, 1])
    expect((await at.developer.get(`${at.path}?pagination=keyset&cursor=nonsense`)).status).toBe(400)
    expect((await at.developer.get(`${at.path}?pagination=keyset&order_by=title`)).status).toBe(405)
  })

  test('go by what matters most, what is due and what people like', async () => {
    const weighed = await projects.make()
    const make = async (path: string, body: Json): Promise<number> =>
      expectStatus(await weighed.maintainer.post(`${weighed.base}/${path}`, body), 201)['id'] as number
    await make('labels', { name: 'urgent', color: '#ff0000', priority: 1 })
    await make('labels', { name: 'later', color: '#00ff00', priority: 5 })
    const soon = await make('milestones', { title: 'soon', due_date: '2030-01-01' })
    const late = await make('milestones', { title: 'late', due_date: '2031-01-01' })
    await weighed.request({ '1.txt': '1\n' }, { labels: 'later', milestone_id: soon })
    await weighed.request({ '2.txt': '2\n' }, { labels: 'urgent', milestone_id: late })
    await weighed.request({ '3.txt': '3\n' })
    const react = async (iid: number, name: string) =>
      expectStatus(await weighed.maintainer.post(`${weighed.one(iid)}/award_emoji`, { name }), 201)
    await react(2, 'thumbsup')
    const down = await react(1, 'thumbsdown')
    const list = async (query: string): Promise<number[]> =>
      iidsOf(await weighed.maintainer.get(`${weighed.path}?${query}`))
    expect(await list('order_by=label_priority&sort=asc')).toEqual([2, 1, 3])
    expect(await list('order_by=label_priority&sort=desc')).toEqual([1, 2, 3])
    expect(await list('order_by=milestone_due&sort=asc')).toEqual([1, 2, 3])
    expect(await list('order_by=milestone_due&sort=desc')).toEqual([2, 1, 3])
    expect(await list('order_by=priority&sort=asc')).toEqual([1, 2, 3])
    expect(await list('order_by=popularity&sort=desc')).toEqual([2, 3, 1])
    expect(await list('my_reaction_emoji=thumbsup')).toEqual([2])
    expect(await list('my_reaction_emoji=Any')).toEqual([2, 1])
    expect(await list('my_reaction_emoji=None')).toEqual([3])
    expect(await list('not[my_reaction_emoji]=thumbsup')).toEqual([3, 1])
    expect(iidsOf(await weighed.developer.get(`${weighed.path}?my_reaction_emoji=Any`))).toEqual([])
    expect(expectStatus(await weighed.developer.get(weighed.one(2)), 200)).toMatchObject({
      upvotes: 1,
      downvotes: 0,
    })
    const award = `${weighed.one(1)}/award_emoji/${down['id'] as number}`
    expect((await weighed.maintainer.delete(award)).status).toBe(204)
    expect(expectStatus(await weighed.developer.get(weighed.one(1)), 200)['downvotes']).toBe(0)
  })

  test('show texts as HTML where that is asked for', async () => {
    const shown = await projects.make()
    const html = {
      title_html: '# One <em>two</em>',
      description_html: expect.stringMatching(/^<p[^>]*>See <a [^>]*>!1<\/a>/),
    }
    await shown.request({ '1.txt': '1\n' }, { title: '# One *two*', description: 'See !1' })
    const one = expectStatus(await shown.developer.get(`${shown.one(1)}?render_html=true`), 200)
    expect(one).toMatchObject(html)
    const list = expectStatus(await shown.developer.get(`${shown.path}?render_html=true`), 200)
    expect(list).toMatchObject([html])
    expect(expectStatus(await shown.developer.get(shown.one(1)), 200)).not.toHaveProperty('title_html')
  })

  test('have a short form', async () => {
    const [first] = expectStatus(await at.developer.get(`${at.path}?view=simple&iids[]=1`), 200) as Json[]
    expect(Object.keys(first!)).toEqual([
      'id',
      'iid',
      'project_id',
      'title',
      'description',
      'state',
      'created_at',
      'updated_at',
      'web_url',
    ])
  })
})
