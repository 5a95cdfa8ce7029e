// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bodyOf, rowsOf } from '../world/bodies.ts'
import { Client, type Person } from '../world/client.ts'
import { eventually, MergeProjects, type MergeProject } from '../world/merge-project.ts'
import { expectStatus, startWorld, type Json, type World } from '../world/world.ts'

let world: World
let place: MergeProject
let ida: Person
let guest: Person
beforeAll(async () => {
  world = await startWorld()
  place = await new MergeProjects(world).make({ visibility: 'public' })
  ida = place.developer
  guest = await world.member({ project: place.project }, 'guest')
  for (const name of ['bug', 'needs work'])
    expectStatus(await world.root.post(`${place.base}/labels`, { name, color: '#ff0000' }), 201)
  expectStatus(await world.root.post(`${place.base}/milestones`, { title: 'Version 1' }), 201)
})
afterAll(() => world[Symbol.asyncDispose]())

const issueOf = async (fields: Json = {}): Promise<{ issue: Json; at: string }> => {
  const issue = expectStatus(await ida.post(`${place.base}/issues`, { title: 'T', ...fields }), 201)
  return { issue, at: `${place.base}/issues/${issue['iid'] as number}` }
}
const say = (at: string, body: string, by = ida, fields: Json = {}) =>
  by.post(`${at}/notes`, { body, ...fields })
/** What the service wrote down there. */
const toldOn = async (at: string, by = ida): Promise<string[]> =>
  rowsOf(await by.get(`${at}/notes?activity_filter=only_activity&sort=asc&per_page=100`)).map(
    ({ body }) => body as string,
  )
const shown = async (at: string, by = ida): Promise<Json> => expectStatus(await by.get(at), 200)

describe('answers', () => {
  test('commands alone are 202 with what they changed, and no note', async () => {
    const { at } = await issueOf()
    const reply = expectStatus(await say(at, '/close\n/label ~bug'), 202)
    expect(reply).toEqual({
      commands_changes: { state_event: 'close', add_label_ids: [expect.any(Number)] },
      summary: ['Closed this issue.', 'Added ~bug.'],
    })
    expect(await shown(at)).toMatchObject({ state: 'closed', labels: ['bug'], user_notes_count: 0 })
  })

  test('commands are done with a token among the parameters, too', async () => {
    const { at } = await issueOf()
    const nobody = new Client(world.url)
    expectStatus(await nobody.post(`${at}/notes?private_token=${ida.token}`, { body: '/close' }), 202)
    expectStatus(await nobody.post(`${at}/notes`, { body: '/reopen', access_token: ida.token }), 202)
    const { token } = world.root
    expectStatus(
      await nobody.post(`${at}/notes`, { body: '/close', private_token: token, sudo: ida.id }),
      202,
    )
    expect(await shown(at)).toMatchObject({ state: 'closed', closed_by: { username: ida.username } })
  })

  test('a text with commands is a note without their lines', async () => {
    const { at } = await issueOf()
    const note = expectStatus(await say(at, 'I agree\n/close\n```\n/reopen\n```'), 201)
    expect(note).toMatchObject({
      body: 'I agree\n```\n/reopen\n```',
      commands_changes: { state_event: 'close' },
    })
    const thread = expectStatus(await ida.post(`${at}/discussions`, { body: '/reopen\nno' }), 201)
    expect(thread).toMatchObject({ notes: [{ body: 'no', commands_changes: { state_event: 'reopen' } }] })
    const answer = `${at}/discussions/${thread['id'] as string}/notes`
    expectStatus(await ida.post(answer, { body: '/title Other' }), 202)
    expect(await shown(at)).toMatchObject({ state: 'opened', title: 'Other' })
  })

  test('without an effect commands are refused; they are cut out all the same', async () => {
    const { at } = await issueOf()
    for (const [by, body] of [
      [guest, '/close'],
      [ida, '/reopen'],
      [ida, '/label ~nothing'],
    ] as const)
      expect(bodyOf(await say(at, body, by))).toEqual({
        message: '400 Bad request - Failed to apply commands.',
      })
    expect(expectStatus(await say(at, 'text\n/close', guest), 201)).toMatchObject({
      body: 'text',
      commands_changes: {},
    })
    expect(await shown(at)).toMatchObject({ state: 'opened' })
  })

  test.each([
    ['/confidential', '/confidential'],
    ['/lock', '/lock'],
    ['/todo', '/todo'],
    ['', '/unlock'],
    ['', '/unlabel'],
    ['', '/remove_milestone'],
    ['', '/remove_due_date'],
    ['', '/clear_weight'],
    ['', '/clear_health_status'],
    ['', '/remove_epic'],
  ])('%s and then %s has no effect', async (before, command) => {
    const { at } = await issueOf()
    if (before !== '') expectStatus(await say(at, before), 202)
    expect(bodyOf(await say(at, command))).toEqual({
      message: '400 Bad request - Failed to apply commands.',
    })
  })

  test('an edit does what is new in it; of commands alone it removes the note', async () => {
    const { at } = await issueOf()
    const note = expectStatus(await say(at, 'text'), 201)
    const single = `${at}/notes/${note['id'] as number}`
    expect(expectStatus(await ida.put(single, { body: 'other\n/lock' }), 200)).toMatchObject({
      body: 'other',
    })
    expectStatus(await ida.put(single, { body: '/unlock' }), 202)
    expect((await ida.get(single)).status).toBe(404)
  })

  test('snippets keep the text', async () => {
    const made = expectStatus(
      await ida.post(`${place.base}/snippets`, {
        title: 'S',
        visibility: 'public',
        file_name: 'a',
        content: 'x',
      }),
      201,
    )
    const note = expectStatus(await say(`${place.base}/snippets/${made['id'] as number}`, '/close'), 201)
    expect(note['body']).toBe('/close')
  })
})

describe('issues', () => {
  test.each([
    ['/assign me', { assignees: [{ username: expect.stringContaining('user') as string }] }],
    ['/label ~bug ~"needs work"', { labels: ['bug', 'needs work'] }],
    ['/relabel ~bug', { labels: ['bug'] }],
    ['/milestone %"Version 1"', { milestone: { title: 'Version 1' } }],
    ['/due 2030-01-02', { due_date: '2030-01-02' }],
    ['/title A new title', { title: 'A new title' }],
    ['/confidential', { confidential: true }],
    ['/lock', { discussion_locked: true }],
    ['/estimate 1d 4h', { time_stats: { time_estimate: 43_200 } }],
    ['/spend 2h', { time_stats: { total_time_spent: 7200 } }],
    ['/weight 3', { weight: 3 }],
    ['/health_status at_risk', { health_status: 'at_risk' }],
    ['/award :tada:', {}],
    ['/subscribe', { subscribed: true }],
  ])('%s', async (command, expected) => {
    const { at } = await issueOf()
    expectStatus(await say(at, command), 202)
    expect(await shown(at)).toMatchObject(expected)
  })

  test.each([
    ['/assign me', '/unassign', { assignees: [] }],
    ['/label ~bug ~"needs work"', '/unlabel ~bug', { labels: ['needs work'] }],
    ['/milestone %"Version 1"', '/remove_milestone', { milestone: null }],
    ['/due tomorrow', '/remove_due_date', { due_date: null }],
    ['/spend 2h', '/remove_time_spent', { time_stats: { total_time_spent: 0 } }],
    ['/estimate 2h', '/remove_estimate', { time_stats: { time_estimate: 0 } }],
    ['/weight 3', '/clear_weight', { weight: null }],
    ['/health_status on_track', '/clear_health_status', { health_status: null }],
    ['/todo', '/done', {}],
  ])('%s and back: %s', async (first, second, expected) => {
    const { at } = await issueOf()
    expectStatus(await say(at, first), 202)
    expectStatus(await say(at, second), 202)
    expect(await shown(at)).toMatchObject(expected)
  })

  test('time is spent on the day that is said, which is none to come', async () => {
    const { at } = await issueOf()
    const spent = expectStatus(await say(at, '/spend 1h 30m 2025-05-01\n/spend -30m 2025-05-02'), 202)
    expect(spent).toEqual({
      commands_changes: { spend_time: { duration: -1800, spent_at: '2025-05-02', user_id: ida.id } },
      summary: ['Added 1h 30m of spent time.', 'Subtracted 30m of spent time.'],
    })
    for (const day of ['2999-01-01', '2025-02-30'])
      expect((await say(at, `/spend 1h ${day}`)).status).toBe(400)
    expect(await shown(at)).toMatchObject({ time_stats: { total_time_spent: 3600 } })
    expect(await toldOn(at)).toEqual([
      'added 1h 30m of time spent at 2025-05-01',
      'subtracted 30m of time spent at 2025-05-02',
    ])
    const request = place.one((await place.request({ 'spent.txt': 's' }))['iid'] as number)
    expectStatus(await say(request, '/spend 2h 2025-05-01'), 202)
    expect(await toldOn(request)).toEqual(['added 2h of time spent at 2025-05-01'])
    expect(
      await ida.post(`${request}/add_spent_time`, { duration: '1h', spent_at: '2999-01-01' }),
    ).toMatchObject({
      status: 400,
      body: { message: { spent_at: ["can't be a future date and time."] } },
    })
  })

  test('links, copies and what an issue turns into', async () => {
    const { issue: other, at: otherAt } = await issueOf({ title: 'Other', labels: 'bug' })
    const reference = `#${other['iid'] as number}`
    const { issue, at } = await issueOf({ title: 'One' })
    expectStatus(await say(at, `/relate ${reference}`), 202)
    expect(rowsOf(await ida.get(`${at}/links`)).map(({ id }) => id as number)).toEqual([other['id']])
    expectStatus(await say(at, `/unlink ${reference}`), 202)
    expect(rowsOf(await ida.get(`${at}/links`))).toEqual([])
    expectStatus(await say(at, `/copy_metadata ${reference}`), 202)
    expect(await shown(at)).toMatchObject({ labels: ['bug'] })
    expectStatus(await say(at, '/clone'), 202)
    const branch = expectStatus(await say(at, '/create_merge_request'), 202)
    expect(branch['commands_changes']).toMatchObject({
      create_merge_request: { branch_name: `${issue['iid'] as number}-one` },
    })
    const duplicate = expectStatus(await say(otherAt, `/duplicate #${issue['iid'] as number}`), 202)
    expect(duplicate['commands_changes']).toMatchObject({ canonical_issue_id: issue['id'] })
    expect(await shown(otherAt)).toMatchObject({
      state: 'closed',
      _links: { closed_as_duplicate_of: expect.stringMatching(new RegExp(`${at}$`)) as string },
    })
    expect(await toldOn(otherAt)).toContain(`marked this issue as a duplicate of #${issue['iid'] as number}`)
    const [request] = rowsOf(await ida.get(`${at}/related_merge_requests`))
    const name = `${issue['iid'] as number}-one`
    expect(await toldOn(at)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(
          new RegExp(`^created branch \\[\`${name}\`\\]\\(.*/-/tree/${name}\\) to address this issue$`),
        ) as string,
        `created merge request !${request!['iid'] as number} to address this issue`,
        `marked ${reference} as a duplicate of this issue`,
      ]),
    )
    // What the caller may not see he cannot refer to.
    const secret = await world.project()
    const hidden = expectStatus(await world.root.post(`/projects/${secret.id}/issues`, { title: 'H' }), 201)
    const named = `${secret.path_with_namespace}#${hidden['iid'] as number}`
    expect((await say(at, `/relate ${named}`)).status).toBe(400)
  })
})

describe('merge requests', () => {
  test('people, drafts, reviews and the merge', async () => {
    const request = await place.request({ 'q.txt': 'q' })
    const at = place.one(request['iid'] as number)
    const { maintainer } = place
    expectStatus(await say(at, `/assign_reviewer @${maintainer.username}\n/draft`), 202)
    expect(await shown(at)).toMatchObject({ draft: true, reviewers: [{ username: maintainer.username }] })
    expectStatus(await say(at, '/ready\n/remove_reviewer'), 202)
    expect(await shown(at)).toMatchObject({ draft: false, reviewers: [] })
    expectStatus(await say(at, '/approve', maintainer), 202)
    expect(bodyOf(await say(at, '/merge', maintainer))).toMatchObject({
      message: expect.stringContaining('requires the SHA') as string,
    })
    const merged = await eventually(async () => {
      const reply = await say(at, '/merge', maintainer, { merge_request_diff_head_sha: request['sha'] })
      return reply.status === 202 && (reply.body as Json)
    })
    expect(merged['commands_changes']).toEqual({ merge: request['sha'] })
    await eventually(async () => (await shown(at))['state'] === 'merged')
  })
})

test('an issue that becomes an epic brings along what belongs to it', async () => {
  const group = await world.group()
  const project = await world.project({ namespace_id: group.id })
  const planner = await world.member({ group }, 'planner')
  const reader = await world.member({ group }, 'guest')
  const parent = expectStatus(await planner.post(`/groups/${group.id}/epics`, { title: 'P' }), 201)
  expectStatus(await planner.post(`/groups/${group.id}/labels`, { name: 'known', color: '#ff0000' }), 201)
  const fields = {
    title: 'Large',
    description: 'Indeed',
    labels: 'known,own',
    epic_id: parent['id'] as number,
  }
  const issue = expectStatus(await planner.post(`/projects/${project.id}/issues`, fields), 201)
  const at = `/projects/${project.id}/issues/${issue['iid'] as number}`
  const thread = expectStatus(await reader.post(`${at}/discussions`, { body: 'One' }), 201)
  expectStatus(await planner.post(`${at}/discussions/${thread['id'] as string}/notes`, { body: 'Two' }), 201)
  expectStatus(await reader.post(`${at}/award_emoji`, { name: 'thumbsup' }), 201)

  const reply = expectStatus(await say(at, '/promote', planner), 202)
  expect(reply['commands_changes']).toEqual({ promote_to_epic: true })
  const epics = rowsOf(await planner.get(`/groups/${group.id}/epics?search=Large`))
  expect(epics).toMatchObject([
    {
      description: 'Indeed',
      labels: ['known'],
      parent_id: parent['id'],
      upvotes: 1,
      author: { id: planner.id },
    },
  ])
  const epic = `/groups/${group.id}/epics/${epics[0]!['id'] as number}`
  const discussions = rowsOf(await planner.get(`${epic}/discussions`))
  const notes = discussions.flatMap((one) => one['notes'] as Json[])
  expect(notes.filter(({ system }) => system !== true)).toMatchObject([
    { body: 'One', author: { id: reader.id }, noteable_type: 'Epic' },
    { body: 'Two', author: { id: planner.id }, noteable_type: 'Epic' },
  ])
  const full = project.path_with_namespace
  expect(await toldOn(epic, planner)).toContain(`promoted from issue ${full}#${issue['iid'] as number}`)
  expect(await toldOn(at, planner)).toContain(`promoted to epic ${group['full_path']}&2`)
  expect(await shown(at, planner)).toMatchObject({ state: 'closed' })
})

test('epics and commits', async () => {
  const group = await world.group()
  const planner = await world.member({ group }, 'planner')
  const epicOf = async () =>
    expectStatus(await planner.post(`/groups/${group.id}/epics`, { title: 'E' }), 201)
  const [epic, child] = [await epicOf(), await epicOf()]
  const at = `/groups/${group.id}/epics/${epic['id'] as number}`
  const reply = await say(at, `/child_epic &${child['iid'] as number}\n/title F\n/close`, planner)
  expectStatus(reply, 202)
  const after = bodyOf(await planner.get(`/groups/${group.id}/epics/${epic['iid'] as number}`))
  expect(after).toMatchObject({ title: 'F', state: 'closed' })

  const head = await place.head('main')
  const path = `${place.base}/repository/commits/${head!}/discussions`
  expectStatus(await place.maintainer.post(path, { body: '/tag v1 First' }), 202)
  expect(bodyOf(await ida.get(`${place.base}/repository/tags/v1`))).toMatchObject({ message: 'First' })
  const [told] = rowsOf(await ida.get(path))
  expect(told).toMatchObject({
    individual_note: true,
    notes: [
      {
        system: true,
        author: { username: place.maintainer.username },
        body: expect.stringMatching(
          new RegExp(`^tagged commit ${head!} to \\[\`v1\`\\]\\(http.*/-/tags/v1\\)$`),
        ) as string,
      },
    ],
  })
})
